import { join } from 'node:path';
import { DEFAULT_PORT } from './settings.ts';

export interface ReadyFacts {
  readonly url: string;
  readonly natsUrl: string;
  readonly tokenFile: string;
  readonly repositoryRoot: string;
  readonly dataFolder: string;
  readonly notes: readonly string[];
}

/** Where the command line is, relative to the repository's root. */
export const COMMAND_LINE = join('packages', 'faces', 'cli', 'bin', 'headway');

/** Where the command line looks for Headway by itself. */
const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_PORT}`;

/** Text that a POSIX shell reads as this one word. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Without user and password, since it is shown. */
function shownUrl(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//');
}

export function readyMessage(facts: ReadyFacts): string {
  const command = shellWord(join(facts.repositoryRoot, COMMAND_LINE));
  const notes = facts.notes.map((note) => `  note           ${note}`);
  return [
    `headway ready: ${facts.url}`,
    `  subscribe at   ${shownUrl(facts.natsUrl)}  (subjects trajectory.*.default.>)`,
    `  operator token ${facts.tokenFile}`,
    `  command line   ${join(facts.repositoryRoot, COMMAND_LINE)}`,
    `  data and logs  ${facts.dataFolder}`,
    ...notes,
    '',
    ...(facts.url === DEFAULT_URL
      ? []
      : [
          'The port is not the default one, so tell the command line where Headway is:',
          `  export HEADWAY_URL=${facts.url}`,
        ]),
    'Next, in a git repository with a test command, report a first gate and look at what it says:',
    `  ${command} gate test --work W-1 -- npm test`,
    `  ${command} status`,
    'Ctrl-C here stops all of it.',
  ].join('\n');
}
