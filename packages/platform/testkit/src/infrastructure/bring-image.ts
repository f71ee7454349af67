import { createHash } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { getContainerRuntimeClient, ImageName } from 'testcontainers';
import { scratchRoot } from './scratch.ts';

/** After a vain try, the test processes of this time do not try again: each would lose the time anew. */
const TRIED_AGAIN_AFTER_MS = 10 * 60_000;

export interface BringOptions {
  /** In milliseconds. The engine goes on after that, so a later run may find the image. */
  readonly within: number;
  /** Whether to try though a try a short while ago was in vain. */
  readonly insist: boolean;
}

/** Makes sure that the engine has the image. Throws with the reason when it cannot be had in time. */
export async function bringImage(image: string, options: BringOptions): Promise<void> {
  const file = path.join(scratchRoot(), `no-image-${createHash('sha256').update(image).digest('hex').slice(0, 16)}`);
  let late: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    late = setTimeout(() => {
      writeFileSync(file, image);
      reject(new Error(`it could not be had within ${options.within / 1_000} s`));
    }, options.within);
  });
  try {
    await Promise.race([have(image, file, options.insist), limit]);
  } finally {
    clearTimeout(late);
  }
}

async function have(image: string, file: string, insist: boolean): Promise<void> {
  const client = await getContainerRuntimeClient();
  const name = ImageName.fromString(image);
  if (await client.image.exists(name)) return;
  if (!insist && triedOf(file)) throw new Error('it could not be had a short while ago');
  let cause: unknown;
  await client.image.pull(name).catch((error) => {
    cause = error;
  });
  if (await client.image.exists(name)) return;
  writeFileSync(file, image);
  const why = cause instanceof Error ? `: ${cause.message.trim()}` : '';
  throw new Error(`it could not be had from its registry${why}`);
}

function triedOf(file: string): boolean {
  const tried = statSync(file, { throwIfNoEntry: false });
  return tried !== undefined && Date.now() - tried.mtimeMs < TRIED_AGAIN_AFTER_MS;
}
