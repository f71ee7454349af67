import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { parsePosition } from '@headway/contracts';
import { type Context, oneLine, print, printJson } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { gitIn } from '../git/run-git.ts';
import { stateFolder } from '../state-folder.ts';

interface Check {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do; empty where nothing. */
  readonly advice: string;
}

const OLDEST_NODE = 24;
const OLDEST_GIT = [2, 28] as const;
/** A clock further off than this makes times on screen misleading; no rule reads them. Milliseconds. */
const CLOCK_TOLERANCE_MS = 5_000;

/** Looks at what Headway needs here, and says for each what was found and what to do. */
export async function doctor(context: Context, options: { readonly json?: boolean }): Promise<number> {
  const checks = [
    nodeCheck(),
    await gitCheck(context),
    ...(await serverChecks(context)),
    spoolCheck(context),
    tokenCheck(context),
  ];
  if (options.json === true) printJson(context, { checks });
  else
    for (const { check, state, found, advice } of checks)
      print(context, oneLine(`${state.padEnd(4)} ${check}: ${found}${advice === '' ? '' : `. ${advice}`}`));
  const unreachable = checks.some(({ check, state }) => state === 'fail' && check.startsWith('server'));
  if (unreachable) return exitCodes.unavailable;
  return checks.some(({ state }) => state === 'fail') ? exitCodes.failed : exitCodes.ok;
}

function nodeCheck(): Check {
  const good = Number(process.versions.node.split('.')[0]) >= OLDEST_NODE;
  const advice = good ? '' : `Run it with Node ${OLDEST_NODE} or newer: \`npm start\` once brings it`;
  return { check: 'node', state: good ? 'ok' : 'fail', found: process.version, advice };
}

async function gitCheck(context: Context): Promise<Check> {
  const answer = await gitIn(context.cwd, context.environment)(['--version']);
  if (!answer.ok)
    return {
      check: 'git',
      state: 'warn',
      found: 'not found',
      advice: 'Install git, or gates are reported without their diff state',
    };
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(answer.value)?.slice(1) ?? []).map(Number);
  const good = major > OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor >= OLDEST_GIT[1]);
  const advice = good ? '' : `Use git ${OLDEST_GIT.join('.')} or newer`;
  return { check: 'git', state: good ? 'ok' : 'warn', found: answer.value.trim(), advice };
}

async function serverChecks(context: Context): Promise<Check[]> {
  const answer = await context.reader.readiness();
  if (!answer.ok) {
    const found = answer.failure.kind === 'unavailable' ? answer.failure.reason : answer.failure.problem.detail;
    const advice = `Start it with \`headway up\`, or set HEADWAY_URL (now ${context.url})`;
    return [{ check: 'server', state: 'fail', found, advice }];
  }
  const { ready, body, date } = answer.value;
  const told = body !== null && typeof body === 'object' ? (body as Record<string, unknown>) : {};
  const version = typeof told.version === 'string' ? told.version : null;
  const why = JSON.stringify(told).slice(0, 300);
  return [
    ready
      ? { check: 'server', state: 'ok', found: `${context.url} is ready`, advice: '' }
      : {
          check: 'server',
          state: 'fail',
          found: `${context.url} is not ready: ${why}`,
          advice: 'Wait a moment; if it stays so, look at its log',
        },
    version === null
      ? { check: 'server version', state: 'warn', found: 'the server does not say', advice: '' }
      : { check: 'server version', state: 'ok', found: version, advice: '' },
    clockCheck(date),
  ];
}

function clockCheck(date: string | null): Check {
  const off = date === null ? Number.NaN : Math.abs(Date.now() - Date.parse(date));
  if (Number.isNaN(off))
    return { check: 'clock', state: 'warn', found: 'the server does not say its time', advice: '' };
  const good = off <= CLOCK_TOLERANCE_MS;
  const advice = good ? '' : 'Set both clocks by NTP: no rule reads times, but people do';
  return {
    check: 'clock',
    state: good ? 'ok' : 'warn',
    found: `${Math.round(off / 1_000)} s from the server's`,
    advice,
  };
}

function spoolCheck(context: Context): Check {
  const waiting = context.spool.names().length;
  const position = context.memory.position();
  if (waiting > 0)
    return {
      check: 'spool',
      state: 'warn',
      found: `${waiting} reports wait in ${context.spool.folder}`,
      advice: 'They are sent before the next report to this server',
    };
  const folder = stateFolder(context.environment);
  if (existsSync(folder) && !writable(folder))
    return {
      check: 'spool',
      state: 'fail',
      found: `${folder} cannot be written`,
      advice: 'Make it yours, or set XDG_STATE_HOME',
    };
  const last =
    position === null || parsePosition(position) === null ? 'nothing reported yet' : `last report at ${position}`;
  return { check: 'spool', state: 'ok', found: `empty, ${last}`, advice: '' };
}

function writable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function tokenCheck(context: Context): Check {
  const { HEADWAY_TOKEN: token, HEADWAY_OPERATOR_TOKEN_FILE: file } = context.environment;
  if (file) {
    if (!existsSync(file))
      return {
        check: 'token',
        state: 'fail',
        found: `${file} is missing`,
        advice: 'Correct HEADWAY_OPERATOR_TOKEN_FILE, or unset it',
      };
    if ((statSync(file).mode & 0o077) !== 0)
      return {
        check: 'token',
        state: 'warn',
        found: `${file} can be read by others`,
        advice: `Run \`chmod 600 ${file}\``,
      };
  }
  if (token) return { check: 'token', state: 'ok', found: 'HEADWAY_TOKEN is set', advice: '' };
  if (context.environment.HEADWAY_TENANT)
    return {
      check: 'token',
      state: 'warn',
      found: 'HEADWAY_TENANT is set without HEADWAY_TOKEN',
      advice: 'Only the tenant `default` is open without a token: set HEADWAY_TOKEN',
    };
  return { check: 'token', state: 'ok', found: 'none, which is enough to report and read on this machine', advice: '' };
}
