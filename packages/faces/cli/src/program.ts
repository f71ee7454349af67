import { stageSchema } from '@headway/contracts';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { ack } from './commands/ack.ts';
import { brief } from './commands/brief.ts';
import { classify } from './commands/classify.ts';
import { doctor } from './commands/doctor.ts';
import { gate } from './commands/gate.ts';
import { signature } from './commands/signature.ts';
import { status } from './commands/status.ts';
import { up } from './commands/up.ts';
import { watch } from './commands/watch.ts';
import { checkpoint, claim, send, withoutGaps } from './commands/work.ts';
import type { Context } from './context.ts';

type Finish = (exitCode: number) => void;

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It has to be a whole number of 0 or more.');
  return Number(text);
}

function workId(text: string): string {
  if (text.length === 0 || text.length > 200) throw new InvalidArgumentError('It has to have 1 to 200 characters.');
  return text;
}

const collect = (text: string, all: string[] = []): string[] => [...all, text];
const json = () => new Option('--json', 'answer in JSON');
const rules = () =>
  new Option('--rules <file>', 'your own rules for reading output (JSON); else HEADWAY_SIGNATURE_RULES');
const after = () => new Option('--after <position>', 'wait until the view covers this position; else your last report');
const worker = () => new Option('--worker <name>', 'who does the work; else HEADWAY_WORKER');
const incarnation = () =>
  new Option('--incarnation <n>', 'which claim of the work; else the current one').argParser(wholeNumber);
const by = (choices: readonly string[]) => new Option('--by <who>', 'who says so').choices([...choices]);
const work = () => new Argument('<work>', 'the id of the work').argParser(workId);

/** The whole command line. Every command ends by `finish` with its exit code. */
export function createProgram(context: Context, finish: Finish): Command {
  const program = new Command('headway')
    .description('Tells whether a fleet of autonomous agents is getting anywhere.')
    .showHelpAfterError('(headway --help shows what there is)')
    .addHelpText(
      'after',
      '\nEnvironment: HEADWAY_URL, HEADWAY_TOKEN, HEADWAY_TENANT, HEADWAY_WORK, HEADWAY_WORKER, HEADWAY_BASE,' +
        '\n  HEADWAY_SIGNATURE_RULES' +
        '\nExit codes: 0 ok, 2 usage, 3 refused, 4 uncertain, 5 unavailable; gate answers with the code of the gate.',
    );
  running(program, context, finish);
  works(program, context, finish);
  reading(program, context, finish);
  offline(program, context, finish);
  return program;
}

function running(program: Command, context: Context, finish: Finish): void {
  program
    .command('up')
    .description('start everything on this machine, in the foreground')
    .allowUnknownOption()
    .argument('[args...]')
    .action(async (args: string[]) => finish(await up(context, args)));
  program
    .command('gate')
    .description('run a gate, pass its output and exit code through, and report it')
    .usage('NAME [options] -- COMMAND...')
    .showHelpAfterError('(put the command after --, as in: headway gate test -- npm test)')
    .argument('<name>', 'the name of the gate: test, lint, build ...')
    .argument('<command...>', 'the command, after --')
    .addOption(new Option('--work <work>', 'the work; else HEADWAY_WORK, else folder@branch').argParser(workId))
    .addOption(new Option('--stage <stage>', 'what the run is for').choices(stageSchema.options).default('bare'))
    .addOption(incarnation())
    .addOption(worker())
    .addOption(rules())
    .option('--base <revision>', 'what the change is measured against; else HEADWAY_BASE, the claim, the fork point')
    .addOption(new Option('--json', 'a summary in JSON as the last line of standard error'))
    .action(async (name: string, command: string[], options) => finish(await gate(context, name, command, options)));
}

function works(program: Command, context: Context, finish: Finish): void {
  const group = program.command('work').description('report what happens to a work');
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .addArgument(work())
      .addOption(worker())
      .addOption(incarnation())
      .addOption(json());
  const sizing = (name: string) => new Option(`--${name} <n>`, 'sizing estimate').argParser(wholeNumber);
  add('claim', 'a worker takes the work')
    .option('--orchestrator <name>', 'who is told when the work goes in circles')
    .option('--lane <lane>', 'a group of works')
    .option('--base <revision>', 'the revision the work starts from; else HEAD')
    .option('--criterion <text>', 'an acceptance criterion; may be given several times', collect)
    .addOption(sizing('files'))
    .addOption(sizing('tool-calls'))
    .addOption(sizing('gate-attempts'))
    .addOption(sizing('commits'))
    .addOption(sizing('tokens'))
    .action(async (id: string, options) => finish(await claim(context, id, options)));
  add('checkpoint', 'a note of progress, with the diff state')
    .addOption(by(['worker', 'subagent-stop', 'harness']).default('worker'))
    .option('--note <text>')
    .option('--base <revision>')
    .action(async (id: string, options) => finish(await checkpoint(context, id, options)));
  add('wake', 'an instruction or a result reached the worker')
    .option('--reason <text>')
    .action(async (id: string, options) =>
      finish(await send(context, 'headway.wake.delivered', id, options, withoutGaps({ reason: options.reason }))),
    );
  const people = ['worker', 'orchestrator', 'person', 'ci'];
  const lifecycle = [
    ['block', 'headway.work.blocked', 'the work cannot go on'],
    ['unblock', 'headway.work.unblocked', 'it can again; counters start anew'],
    ['release', 'headway.work.released', 'nobody is on it any more'],
  ] as const;
  for (const [name, type, description] of lifecycle)
    add(name, description)
      .addOption(by(people))
      .option('--reason <text>')
      .action(async (id: string, options) =>
        finish(await send(context, type, id, options, withoutGaps({ by: options.by, reason: options.reason }))),
      );
  add('done', 'the work is said to be done')
    .addOption(by(people))
    .option('--reason <text>')
    .addOption(new Option('--criteria-met <n>', 'how many acceptance criteria are met').argParser(wholeNumber))
    .action(async (id: string, { by: who, reason, criteriaMet, ...options }) =>
      finish(await send(context, 'headway.work.done', id, options, withoutGaps({ by: who, reason, criteriaMet }))),
    );
}

function reading(program: Command, context: Context, finish: Finish): void {
  program
    .command('status')
    .description('the fleet, what needs a person first')
    .option('--class <class>', 'only works of this class')
    .option('--watch', 'show it again whenever something changes')
    .addOption(after())
    .addOption(json())
    .action(async (options) => finish(await status(context, options)));
  program
    .command('brief')
    .description("a work's brief in markdown")
    .addArgument(work())
    .addOption(after())
    .addOption(json())
    .action(async (id: string, options) => finish(await brief(context, id, options)));
  program
    .command('ack')
    .description('answer a signal on its thread')
    .argument('<signal>', 'its id, or the beginning of it')
    .option('--agree', 'it is true, and something is done about it')
    .option('--reject', 'it is not so')
    .option('--as <name>', 'who answers: one of those it was sent to')
    .option('--text <text>', 'what to say')
    .addOption(json())
    .action(async (id: string, options) => finish(await ack(context, id, options)));
  program
    .command('watch')
    .description('print changes as they come')
    .option('--work <work>', 'of this work only')
    .addOption(json())
    .action(async (options) => finish(await watch(context, options)));
  program
    .command('doctor')
    .description('look at what Headway needs here')
    .addOption(json())
    .action(async (options) => finish(await doctor(context, options)));
}

function offline(program: Command, context: Context, finish: Finish): void {
  program
    .command('classify')
    .description('classify recorded evidence, without a server')
    .argument('<file>', 'a case file, a JSON array of CloudEvents or NDJSON; - for standard input')
    .option('--each', 'print the assessment after every event')
    .addOption(new Option('--json', 'accepted for symmetry: the answer always is JSON lines'))
    .action(async (file: string, options) => finish(await classify(context, file, options)));
  program
    .command('signature')
    .description("read a gate's output from standard input: outcome, failing set, signature")
    .requiredOption('--gate <name>', 'the name of the gate')
    .addOption(new Option('--exit-code <n>', 'how the gate ended').argParser(wholeNumber).makeOptionMandatory())
    .option('--root <folder>', 'the folder that paths in the output begin with; else the current one')
    .addOption(rules())
    .option('--explain', 'say for each line that counted who read it, its key, and what was masked')
    .addOption(new Option('--json', 'with --explain: answer in JSON; without it the answer always is'))
    .action(async (options) => finish(await signature(context, process.stdin, options)));
}
