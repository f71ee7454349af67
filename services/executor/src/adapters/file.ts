import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, realpath, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Adapter, Attempt, Observed, SendAnswer } from '@headway/effects';
import { ok, refused } from '@headway/kernel';
import { z } from 'zod';
import type { FileTargets } from '../targets.ts';
import { readInputs } from './read-inputs.ts';

/** What is read of a file at most to take its digest, in bytes. */
export const READ_BYTES = 16 * 1024 * 1024;
const PATH_PARTS = 32;
/** Where temporary files and the locks of replacing stand, within the root: a name that no target may have. */
const OWN_FOLDER = '.headway';

const digest = z.string().regex(/^[0-9a-f]{64}$/, 'has to be a SHA-256 in 64 lower-case hex digits');

const inputsSchema = z.strictObject({
  text: z.string(),
  /** The SHA-256 of what is there now; absent = the file must not be there yet. */
  expect: digest.optional(),
});

export interface FilePlan {
  readonly root: string;
  readonly path: string;
  readonly text: string;
  readonly expect: string | null;
}

/**
 * `file`, class C: writes one whole file, where there is none yet or where its content is as expected. The target is
 * `<root>/<path>` within a folder that an operator lists. The file appears at once with all its content, on the disk.
 *
 * Whether a file is ours is told by its content, so two operations that write the same are one effect. Creating is decided by
 * the file system (`link` fails where a name is taken). Replacing is decided under a lock that all executors of one root
 * share; a writer that is not Headway and does not take that lock may be written over within that moment.
 */
export function createFileAdapter(targets: FileTargets): Adapter<FilePlan> {
  const roots = new Map(targets.roots.map((root) => [root.name, root.folder]));
  return {
    kind: 'file',
    class: 'C',
    timeoutMs: targets.timeoutMs,
    // A call into a file system that hangs cannot be taken back.
    processingMs: targets.timeoutMs,
    retentionMs: null,
    prepare({ target, inputs }) {
      const [name = '', ...parts] = target.split('/');
      if (!roots.has(name))
        return refused({ detail: 'The target has to be <root>/<path> of the targets file.', pointer: '/target' });
      if (parts.length === 0 || parts.length > PATH_PARTS || !parts.every(isPlainName))
        return refused({
          detail:
            'The path has to be made of plain names with / between: no "..", no hidden name, no control character.',
          pointer: '/target',
        });
      const read = readInputs(inputsSchema, inputs);
      if (!read.ok) return read;
      const { text, expect = null } = read.value;
      return ok({ plan: { root: name, path: parts.join('/'), text, expect }, resource: target.slice(0, 1_024) });
    },
    async send(attempt) {
      const folder = roots.get(attempt.plan.root);
      if (folder === undefined) return { answer: 'not-sent', reason: 'the root is not listed any more' };
      const place = await placeOf(folder, attempt.plan.path, true).catch((error: unknown) => reasonOf(error));
      if (typeof place === 'string') return { answer: 'refused', reason: place };
      return write(place, attempt);
    },
    async observe({ plan }): Promise<Observed> {
      const folder = roots.get(plan.root);
      if (folder === undefined) return { observed: 'unknown', reason: 'the root is not listed any more' };
      try {
        const place = await placeOf(folder, plan.path, false);
        return typeof place === 'string' ? { observed: 'unknown', reason: place } : await look(place.file, plan);
      } catch (error) {
        if (isMissing(error) && plan.expect === null && (await isFolder(folder)))
          return { observed: 'absent', detail: 'there is no such folder' };
        return { observed: 'unknown', reason: reasonOf(error) };
      }
    },
    close: async () => {},
  };
}

const NAME_BYTES = 200;

/** No separator, nothing that leads elsewhere, nothing hidden; `isWellFormed` keeps one name one file. */
function isPlainName(name: string): boolean {
  if (name === '' || name.startsWith('.') || Buffer.byteLength(name) > NAME_BYTES || !name.isWellFormed()) return false;
  return ![...name].some((letter) => letter === '\\' || letter === ':' || letter < ' ' || letter === '\x7f');
}

interface Place {
  readonly root: string;
  readonly folder: string;
  readonly file: string;
}

/** Where a path leads, or why it may not be used. No folder on the way may be a link. */
async function placeOf(root: string, path: string, create: boolean): Promise<Place | string> {
  const file = join(root, path);
  let folder = root;
  for (const part of path.split('/').slice(0, -1)) {
    folder = join(folder, part);
    if (create) await mkdir(folder).catch((error: unknown) => expectCode(error, 'EEXIST'));
    if (!(await lstat(folder)).isDirectory()) return `${part} is a link or no folder`;
  }
  // Said again by the system itself: the root may be reached through links, what is within may not.
  const real = await realpath(dirname(file));
  const within = join(await realpath(root), path);
  return real === dirname(within) ? { root, folder, file } : 'the path leads out of its root';
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** The digest of a plain file; `null` where there is none. Throws where it is anything else. */
async function digestOf(path: string): Promise<string | null> {
  let file: FileHandle;
  try {
    // Never through a link, and never held up by a pipe that nobody writes to.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  try {
    const { size } = await plainFile(file);
    if (size > READ_BYTES) throw new Error(`the file is above ${READ_BYTES} bytes`);
    return sha256(await file.readFile());
  } finally {
    await file.close();
  }
}

async function plainFile(file: FileHandle) {
  const found = await file.stat();
  if (!found.isFile()) throw new Error('it is no plain file');
  return found;
}

async function look(file: string, plan: FilePlan): Promise<Observed> {
  const found = await digestOf(file);
  const wanted = sha256(plan.text);
  if (found === wanted) return { observed: 'present', result: resultOf(plan, wanted) };
  if (found === plan.expect)
    return { observed: 'absent', detail: found === null ? 'there is no such file' : 'the file is as it was before' };
  return { observed: 'unknown', reason: 'the file was written by another, before or after' };
}

const resultOf = ({ text }: FilePlan, digest: string) => ({ sha256: digest, bytes: Buffer.byteLength(text) });

async function write(place: Place, attempt: Attempt<FilePlan>): Promise<SendAnswer> {
  const { plan, signal } = attempt;
  const own = join(place.root, OWN_FOLDER);
  // One name for each attempt: what a dead process left behind is never in the way.
  const temporary = join(own, `${attempt.operation}.${attempt.epoch}.${attempt.attempt}`);
  try {
    await mkdir(own, { mode: 0o700 }).catch((error: unknown) => expectCode(error, 'EEXIST'));
    if (!(await lstat(own)).isDirectory()) return { answer: 'refused', reason: `${OWN_FOLDER} is no folder` };
    await writeWhole(temporary, plan.text);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    return { answer: 'refused', reason: reasonOf(error) };
  }
  try {
    if (signal.aborted) return { answer: 'not-sent', reason: 'the time was over before the file was put in place' };
    const answer = plan.expect === null ? await create(place, temporary, plan) : await replace(place, temporary, plan);
    if (answer.answer === 'succeeded') await syncFolder(place.folder);
    return answer;
  } catch (error) {
    return { answer: 'uncertain', reason: reasonOf(error) };
  } finally {
    await unlink(temporary).catch(() => {});
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  await unlink(path).catch((error: unknown) => expectCode(error, 'ENOENT'));
  const file = await open(path, 'wx', 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function create(place: Place, temporary: string, plan: FilePlan): Promise<SendAnswer> {
  try {
    await link(temporary, place.file);
  } catch (error) {
    // As with every "already exists": it may be ours, and is looked at.
    if (codeOf(error) === 'EEXIST') return { answer: 'uncertain', reason: 'a file of this name is there already' };
    throw error;
  }
  return { answer: 'succeeded', result: resultOf(plan, sha256(plan.text)) };
}

async function replace(place: Place, temporary: string, plan: FilePlan): Promise<SendAnswer> {
  const lock = join(place.root, OWN_FOLDER, `${sha256(place.file)}.lock`);
  const held = await open(lock, 'wx').catch((error: unknown) => expectCode(error, 'EEXIST'));
  if (held === undefined)
    // Known to be without effect, yet not the end of it: a look finds the file as it was, and authorises a repeat.
    return {
      answer: 'uncertain',
      reason: `another replaces this file, or died doing so: then remove ${OWN_FOLDER}/${sha256(place.file)}.lock`,
    };
  try {
    const found = await digestOf(place.file);
    const wanted = sha256(plan.text);
    if (found === wanted) return { answer: 'uncertain', reason: 'the file holds this content already' };
    if (found !== plan.expect) return { answer: 'refused', reason: 'the file is not as expected' };
    await rename(temporary, place.file);
    return { answer: 'succeeded', result: resultOf(plan, wanted) };
  } finally {
    await held.close();
    await unlink(lock).catch(() => {});
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
const isMissing = (error: unknown) => codeOf(error) === 'ENOENT';
const isFolder = (path: string) =>
  lstat(path)
    .then((found) => found.isDirectory())
    .catch(() => false);

/** For an error that is one of the expected outcomes. Throws any other one. */
function expectCode(error: unknown, code: string): undefined {
  if (codeOf(error) !== code) throw error;
  return undefined;
}

const reasonOf = (error: unknown) => (error instanceof Error ? (codeOf(error) ?? error.message) : String(error));
