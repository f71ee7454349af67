import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Files of a small project by their path. */
export type Files = Readonly<Record<string, string>>;

/** One run of a tool: `set` names what fails, `variant` what differs although the same fails. */
export interface Run {
  readonly set: string;
  readonly variant: string;
  readonly files: Files;
  /** A command line for the shell, run in the project's folder with the installed tools on the PATH. */
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
}

const MOST_BYTES = 24_000;
const LONGEST_RUN_MS = 120_000;

/** Runs `run` in a new folder and answers what the tool printed on both channels, in order. */
export async function capture(run: Run, installed: string): Promise<string> {
  // A folder that could be anyone's; its name differs with each run.
  const folder = join(mkdtempSync(join(tmpdir(), 'checkout-')), run.variant === 'again' ? 'other-place' : 'shop');
  for (const [path, text] of Object.entries(run.files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  // A folder of links: some tools refuse a linked node_modules.
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(installed, 'node_modules')))
    symlinkSync(join(installed, 'node_modules', name), join(folder, 'node_modules', name));
  try {
    return await output(run, folder, installed);
  } finally {
    rmSync(dirname(folder), { recursive: true, force: true });
  }
}

function output(run: Run, folder: string, installed: string): Promise<string> {
  const path = [join(installed, 'node_modules', '.bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `(${run.command.replaceAll('FOLDER', folder)}) 2>&1`], {
      cwd: folder,
      env: {
        PATH: path,
        HOME: dirname(folder),
        TERM: 'xterm-256color',
        LANG: 'C.UTF-8',
        NODE_NO_WARNINGS: '1',
        ...(run.env?.FORCE_COLOR === undefined ? { NO_COLOR: '1' } : {}),
        ...run.env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: LONGEST_RUN_MS,
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      const text = Buffer.concat(chunks).toString('utf8');
      if (code === 127 || code === 126) reject(new Error(`${run.command} could not be run:\n${text}`));
      else resolve(text.length > MOST_BYTES ? tooLong(run, text) : text);
    });
  });
}

function tooLong(run: Run, text: string): never {
  throw new Error(`${run.set}.${run.variant} is ${text.length} characters long: make its project smaller`);
}

/** The same output with its middle left out, as logs that are too long are kept. */
export function cutInTheMiddle(text: string): string {
  const lines = text.split('\n');
  const from = Math.round(lines.length * 0.4);
  const to = Math.round(lines.length * 0.6);
  return [...lines.slice(0, from), `... ${to - from} lines left out ...`, ...lines.slice(to)].join('\n');
}
