import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from './replace-file.ts';
import { StartError } from './terminal.ts';

const TOKEN_BYTES = 32;
/** As root, other users may pass through the data folder (Postgres runs as one of them) but not list it. */
const FOLDER_MODE = process.getuid?.() === 0 ? 0o711 : 0o700;

export interface Running {
  readonly pid: number;
  readonly url: string;
}

/** Everything Headway keeps on one machine, below one folder. */
export function dataFolder(path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
    chmodSync(path, FOLDER_MODE);
    mkdirSync(join(path, 'logs'), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartError(
      `the data folder ${path} cannot be used: ${(error as Error).message}.\n  Set HEADWAY_DATA_DIR to a folder that you may write to.`,
    );
  }
  const runningFile = join(path, 'running.json');
  return {
    path,
    logs: join(path, 'logs'),
    tokenFile: secretFile(join(path, 'operator-token')),
    announce(running: Running): void {
      replaceFile(runningFile, `${JSON.stringify(running)}\n`);
    },
    withdraw(): void {
      rmSync(runningFile, { force: true });
    },
    /** For the message to a second copy: who has this folder, as far as is known. */
    describeHolder(): string {
      try {
        const { pid, url } = JSON.parse(readFileSync(runningFile, 'utf8')) as Running;
        return ` (process ${pid}, ${url})`;
      } catch {
        return '';
      }
    },
  };
}

export type DataFolder = ReturnType<typeof dataFolder>;

/** A random secret in a file that only its owner can read; made once and kept. Returns the file's path. */
export function secretFile(path: string): string {
  if (existsSync(path) && readFileSync(path, 'utf8').trim() !== '') {
    chmodSync(path, 0o600);
    return path;
  }
  replaceFile(path, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
  return path;
}
