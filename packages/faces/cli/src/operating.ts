import { type Command, Option } from 'commander';
import { actOnDeadLetter, listDeadLetters, showDeadLetter } from './commands/dead-letters.ts';
import { rebuild } from './commands/rebuild.ts';
import type { Context } from './context.ts';

type Finish = (exitCode: number) => void;

const json = () => new Option('--json', 'answer in JSON');
const needsToken = '\nNeeds the operator token in HEADWAY_TOKEN; `headway up` says where it is.';

/** The commands by which an operator looks after the readers. */
export function operating(program: Command, context: Context, finish: Finish): void {
  deadLetters(program, context, finish);
  program
    .command('rebuild')
    .description('build the read models anew from the archive, beside those that answer, and switch')
    .argument('<projection>', 'which one: fleet')
    .requiredOption('--why <text>', 'the reason, for the record')
    .option('--as <name>', 'your name, for the record')
    .option('--cancel', 'call off the one under way; what answers stays as it is')
    .option('--no-wait', 'do not follow it to its end')
    .addOption(json())
    .addHelpText('after', needsToken)
    .action(async (name: string, options) => finish(await rebuild(context, name, options)));
}

function deadLetters(program: Command, context: Context, finish: Finish): void {
  const group = program
    .command('deadletter')
    .description('messages that could not be handled, and the works that wait behind them');
  group
    .command('list')
    .description('those that are open')
    .addOption(new Option('--state <state>', 'others').choices(['open', 'retried', 'dropped', 'all']))
    .addOption(json())
    .action(async (options) => finish(await listDeadLetters(context, options)));
  group
    .command('show')
    .description('one of them, with its error')
    .argument('<letter>', 'its id')
    .addOption(json())
    .action(async (id: string, options) => finish(await showDeadLetter(context, id, options)));
  for (const [verb, description] of [
    ['retry', 'handle it again, and then what waits behind it, in order'],
    ['drop', 'pass over it for ever; what waits behind it goes on'],
  ] as const)
    group
      .command(verb)
      .description(description)
      .argument('<letter>', 'its id')
      .requiredOption('--why <text>', 'the reason, for the record')
      .option('--as <name>', 'your name, for the record')
      .addOption(json())
      .addHelpText('after', needsToken)
      .action(async (id: string, options) => finish(await actOnDeadLetter(context, id, verb, options)));
}
