import { stageSchema } from '@headway/contracts';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { ack } from './commands/ack.ts';
import { brief } from './commands/brief.ts';
import { classify } from './commands/classify.ts';
import { demo } from './commands/demo.ts';
import { doctor } from './commands/doctor.ts';
import { gate } from './commands/gate.ts';
import { setPolicy, showPolicy } from './commands/policy.ts';
import { recover } from './commands/recover.ts';
import { report } from './commands/report.ts';
import { listSignals, sendSignal, showSignal } from './commands/signal.ts';
import { signature } from './commands/signature.ts';
import { status } from './commands/status.ts';
import { up } from './commands/up.ts';
import { watch } from './commands/watch.ts';
import { checkpoint, claim, send, withoutGaps } from './commands/work.ts';
import { type Context, withTenant } from './context.ts';
import { addEffectCommands } from './effect-program.ts';

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
      '\nEnvironment: HEADWAY_URL, HEADWAY_TOKEN, HEADWAY_TENANT, HEADWAY_WORK, HEADWAY_WORKER, HEADWAY_BASE' +
        '\nExit codes: 0 ok, 2 usage, 3 refused, 4 uncertain, 5 unavailable; gate answers with the code of the gate.',
    );
  running(program, context, finish);
  works(program, context, finish);
  reading(program, context, finish);
  addEffectCommands(program, context, finish);
  judging(program, context, finish);
  offline(program, context, finish);
  bus(program, context, finish);
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
    .command('demo')
    .description('play a small fleet against the running product, and tell what it makes of it')
    .addOption(new Option('--pace <seconds>', 'time between the steps').argParser(wholeNumber).default(3))
    .option('--release', 'let go of the works of the demo at the end')
    .addOption(json())
    .action(async (options) => finish(await demo(context, options)));
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

/** What was judged, what may be done about it, and by which numbers. */
function judging(program: Command, context: Context, finish: Finish): void {
  const signals = program.command('signal').description('signals: what they say, and messages on their threads');
  signals
    .command('list')
    .description('the open signals')
    .option('--all', 'closed ones too, after the open ones')
    .addOption(new Option('--state <state>').choices(['open', 'acknowledged', 'withdrawn', 'superseded']))
    .addOption(new Option('--kind <kind>').choices(['stagnating', 'thrashing', 'awaiting-wake', 'shared-failure']))
    .addOption(new Option('--work <work>', 'about this work').argParser(workId))
    .option('--to <name>', 'the inbox of an orchestrator or worker: what it may answer')
    .addOption(after())
    .addOption(json())
    .action(async (options) => finish(await listSignals(context, options)));
  signals
    .command('show')
    .description('one signal, and how to answer it')
    .argument('<signal>', 'its id, or the beginning of it')
    .addOption(after())
    .addOption(json())
    .action(async (id: string, options) => finish(await showSignal(context, id, options)));
  signals
    .command('send')
    .description('send a message on a thread of a work; it acknowledges nothing')
    .addArgument(work())
    .requiredOption('--intent <intent>', 'INFORM, PROPOSE ...')
    .requiredOption('--as <name>', 'who sends it')
    .requiredOption('--text <text>', 'what to say')
    .option('--to <name>', 'who it is for; may be given several times', collect)
    .option('--thread <signal>', 'the thread; else a new one')
    .option('--in-reply-to <signal>', 'the message it answers')
    .addOption(json())
    .action(async (id: string, options) => finish(await sendSignal(context, id, options)));
  program
    .command('recover')
    .description('what may be done about a work that is stuck, to copy; does none of it')
    .addArgument(work())
    .addOption(after())
    .addOption(json())
    .action(async (id: string, options) => finish(await recover(context, id, options)));
  program
    .command('report')
    .description('the fleet: classes, signals, acknowledgement times, efficiency, cost')
    .addOption(new Option('--days <n>', 'how far to look back; else 30').argParser(wholeNumber))
    .addOption(new Option('--limit <n>', 'done works on one page; else 100').argParser(wholeNumber))
    .option('--cursor <cursor>', 'where the page before ended')
    .addOption(after())
    .addOption(json())
    .action(async (options) => finish(await report(context, options)));
  const policies = program.command('policy').description('the numbers that the rules go by');
  policies
    .command('show')
    .description('those of the tenant and of its lanes, with who set them and why')
    .addOption(after())
    .addOption(json())
    .action(async (options) => finish(await showPolicy(context, options)));
  policies
    .command('set')
    .description('set them for the evidence that comes; needs the operator token in HEADWAY_TOKEN')
    .option('--lane <lane>', 'for works of this lane; else for all lanes without their own')
    .option('--tenant <tenant>', 'the tenant; else HEADWAY_TENANT')
    .option('--set <name=number>', 'a number; may be given several times. What is not named has its default', collect)
    .option('--reset', 'no numbers of its own any more')
    .option('--by <name>', 'who sets them; else USER')
    .requiredOption('--why <text>', 'the reason, kept with them')
    .addOption(new Option('--expect <version>', 'only if this is the newest version').argParser(wholeNumber))
    .addOption(json())
    .action(async ({ tenant, ...options }) =>
      finish(await setPolicy(tenant === undefined ? context : withTenant(context, tenant), options)),
    );
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
    .addOption(new Option('--json', 'accepted for symmetry: the answer always is JSON'))
    .action(async (options) => finish(await signature(context, process.stdin, options)));
}

/** For operators, with the rights of the bus's administrator. Loaded only where it is used: it brings two drivers. */
function bus(program: Command, context: Context, finish: Finish): void {
  const group = program
    .command('bus')
    .description('the streams: declare them, put them back from the archive, take out what is old')
    .addHelpText(
      'after',
      '\nEnvironment: HEADWAY_NATS_URL (with a user that may change streams), HEADWAY_POSTGRES_URL, HEADWAY_NATS_REPLICAS;' +
        '\nwithout the first two: the servers that `headway up` started here.',
    );
  group
    .command('provision')
    .description('make the streams, or bring their settings to what is declared; messages stay')
    .addOption(json())
    .action(async (options) => finish(await (await import('./commands/bus.ts')).busProvision(context, options)));
  group
    .command('restore')
    .description('compare the streams with the archive; with --yes put back what they lost')
    .option('--yes', 'do it; otherwise it is only told what would be done')
    .addOption(json())
    .action(async (options) => finish(await (await import('./commands/bus.ts')).busRestore(context, options)));
  group
    .command('trim')
    .description('take out of EVIDENCE and ACTS what is old, archived and folded')
    .addOption(new Option('--older-than <days>', 'in days').argParser(wholeNumber).default(30))
    .option('--yes', 'do it; otherwise it is only told what would be done')
    .addOption(json())
    .action(async (options) => finish(await (await import('./commands/bus.ts')).busTrim(context, options)));
}
