import { effectStates } from '@headway/contracts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  listEffects,
  reconcileEffect,
  requestEffect,
  resolveEffect,
  showEffect,
  verifyEffect,
  watchEffect,
} from './commands/effect.ts';
import type { Context } from './context.ts';

const json = () => new Option('--json', 'answer in JSON');

function seconds(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('It has to be a whole number of seconds below 10000.');
  return Number(text);
}

function generation(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It has to be a whole number of 1 or more.');
  return Number(text);
}

function operation(text: string): string {
  if (!/^[0-9a-f]{6,64}$/.test(text))
    throw new InvalidArgumentError("It has to be 6 to 64 digits of an operation's id.");
  return text;
}

/** `headway effect …`: asking for effects, and clearing up what is uncertain. */
export function addEffectCommands(program: Command, context: Context, finish: (exitCode: number) => void): void {
  const group = program
    .command('effect')
    .description('ask for effects outside Headway, and clear up uncertain ones')
    .addHelpText(
      'after',
      '\nExit codes: 0 ok or still going on, 3 failed, rejected or abandoned, 4 uncertain, 5 unavailable.',
    );
  const one = (name: string, description: string) =>
    group
      .command(name)
      .description(description)
      .argument('<operation>', 'its id, or the beginning of it', operation)
      .addOption(json());

  group
    .command('request')
    .description('ask for an effect; asking again with the same key answers with the same operation')
    .argument('<kind>', 'http, postgres.row, ...')
    .requiredOption('--target <target>', 'where it goes')
    .requiredOption('--key <key>', 'names the intent, never the run or the attempt')
    .addOption(new Option('--generation <n>', 'a deliberate repeat is the next one').argParser(generation))
    .option('--inputs <json>', 'one JSON object, @file, or - for standard input')
    .option('--authority <subject>', 'the subject whose verdict authorises it; else a policy has to')
    .option('--plan-revision <revision>', 'the plan revision it is asked for under')
    .option('--by <name>', 'who asks')
    .addOption(new Option('--wait [seconds]', 'wait until it ends').argParser(seconds))
    .addOption(json())
    .action(async (kind: string, options) => finish(await requestEffect(context, kind, options)));
  group
    .command('list')
    .description('operations, newest first')
    .option('--uncertain', 'the queue of uncertain ones, with age and what would resolve each')
    .addOption(new Option('--state <state>', 'only in this state').choices([...effectStates]))
    .option('--kind <kind>', 'only of this kind')
    .addOption(json())
    .action(async (options) => finish(await listEffects(context, options)));
  one('show', 'one operation').action(async (id: string, options) => finish(await showEffect(context, id, options)));
  one('reconcile', 'look at the target of an uncertain one now').action(async (id: string, options) =>
    finish(await reconcileEffect(context, id, options)),
  );
  one('resolve', 'say what became of an uncertain one; needs the operator token')
    .addOption(
      new Option('--to <state>', 'what is known')
        .choices(['SUCCEEDED', 'RETRY_AUTHORISED', 'ABANDONED'])
        .makeOptionMandatory(),
    )
    .requiredOption('--by <name>', 'the person who answers for it')
    .requiredOption('--reason <text>', 'how that is known')
    .option('--result <json>', 'what the target answered, where it succeeded')
    .action(async (id: string, options) => finish(await resolveEffect(context, id, options)));
  one('watch', 'follow one until it ends')
    .addOption(new Option('--seconds <n>', 'not for longer').argParser(seconds))
    .action(async (id: string, options) => finish(await watchEffect(context, id, options)));
  one('verify', 'recompute the hash chain of its history').action(async (id: string, options) =>
    finish(await verifyEffect(context, id, options)),
  );
}
