import { type Adapter, type Attempt, answerOfBroken, type Observed, type SendAnswer } from '@headway/effects';
import { ok, refused } from '@headway/kernel';
import { z } from 'zod';
import type { GitTargets } from '../targets.ts';
import { type GitRan, runGit } from './outgoing/run-git.ts';
import { readInputs } from './read-inputs.ts';

const oid = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/, 'has to be a whole object id in lower-case hex digits');

const inputsSchema = z.strictObject({
  /** What the ref points to afterwards. The source repository has to hold it. */
  to: oid,
  /** What it points to now; absent = there must be no such ref yet. */
  expect: oid.optional(),
});

export interface RefPlan {
  readonly repository: string;
  readonly ref: string;
  readonly to: string;
  readonly expect: string | null;
}

type Repository = GitTargets['repositories'][number];

/**
 * `git.ref`, class C: moves one ref of a remote repository from the object that was expected when the effect was asked for to
 * another, by compare-and-swap (`push --force-with-lease`). The target is `<repository>/refs/heads/<branch>` or
 * `.../refs/tags/<tag>` of those in the targets file. Objects come from a source repository beside the executor.
 *
 * A ref that points to the wanted object counts as ours. One that somebody set back to the expected object counts as absent.
 */
export function createGitRefAdapter(targets: GitTargets): Adapter<RefPlan> {
  const repositories = new Map(targets.repositories.map((repository) => [repository.name, repository]));
  return {
    kind: 'git.ref',
    class: 'C',
    timeoutMs: targets.timeoutMs,
    // The remote may still be running its hooks when the connection is gone.
    processingMs: targets.processingSeconds * 1_000,
    retentionMs: null,
    prepare({ target, inputs }) {
      const slash = target.indexOf('/');
      const repository = target.slice(0, Math.max(0, slash));
      const ref = target.slice(slash + 1);
      if (!repositories.has(repository) || !isRefName(ref))
        return refused({
          detail:
            'The target has to be <repository>/refs/heads/<branch> or <repository>/refs/tags/<tag>, with a repository of the targets file.',
          pointer: '/target',
        });
      const read = readInputs(inputsSchema, inputs);
      if (!read.ok) return read;
      const { to, expect = null } = read.value;
      if (/^0+$/.test(to) || to === expect)
        return refused({
          detail: 'It has to point to another object than before; refs are not deleted.',
          pointer: '/inputs/to',
        });
      return ok({ plan: { repository, ref, to, expect }, resource: target.slice(0, 1_024) });
    },
    async send(attempt) {
      const repository = repositories.get(attempt.plan.repository);
      if (repository === undefined) return { answer: 'not-sent', reason: 'the repository is not listed any more' };
      return push(repository, attempt);
    },
    async observe({ plan, signal }) {
      const repository = repositories.get(plan.repository);
      if (repository === undefined) return { observed: 'unknown', reason: 'the repository is not listed any more' };
      return look(repository, plan, signal);
    },
    close: async () => {},
  };
}

/** A stricter reading of git's own rules for names: letters, digits and `._-/`, no part that begins with `.` or `-`. */
function isRefName(ref: string): boolean {
  if (ref.length > 255 || ref.includes('..') || !/^refs\/(heads|tags)\/[A-Za-z0-9._/-]+$/.test(ref)) return false;
  return ref.split('/').every((part) => /^[A-Za-z0-9_]/.test(part) && !/(\.lock|\.)$/.test(part));
}

/** What the ref points to, `null` = there is none; or why that is not known. */
async function readRef(repository: Repository, ref: string, signal: AbortSignal) {
  const ran = await runGit(repository, ['ls-remote', '--refs', '--', repository.remote, ref], signal);
  if (ran.code !== 0) return { known: false, reason: ran.reason } as const;
  const line = ran.stdout.split('\n').find((text) => text.endsWith(`\t${ref}`));
  return { known: true, oid: line === undefined ? null : (line.split('\t')[0] ?? null) } as const;
}

async function look(repository: Repository, plan: RefPlan, signal: AbortSignal): Promise<Observed> {
  const found = await readRef(repository, plan.ref, signal);
  if (!found.known) return { observed: 'unknown', reason: found.reason };
  if (found.oid === plan.to) return { observed: 'present', result: resultOf(plan) };
  if (found.oid === plan.expect) return { observed: 'absent', detail: 'the ref is as it was before' };
  return { observed: 'unknown', reason: 'the ref was moved by another, before or after' };
}

const resultOf = ({ ref, to, expect }: RefPlan) => ({ ref, from: expect, to });

async function push(repository: Repository, { plan, signal }: Attempt<RefPlan>): Promise<SendAnswer> {
  // A reading first: where it fails nothing that writes was sent.
  const before = await readRef(repository, plan.ref, signal);
  if (!before.known) return answerOfBroken('connect', before.reason);
  if (before.oid === plan.to) return { answer: 'uncertain', reason: 'the ref points there already' };
  if (before.oid !== plan.expect) return { answer: 'refused', reason: 'the ref is not as expected' };
  const held = await runGit(repository, ['cat-file', '-e', plan.to], signal);
  if (held.code !== 0) return { answer: 'refused', reason: 'the source repository does not hold this object' };
  const lease = `--force-with-lease=${plan.ref}:${plan.expect ?? ''}`;
  const options = ['push', '--porcelain', '--no-verify', '--no-signed', '--recurse-submodules=no', lease];
  const pushed = await runGit(repository, [...options, '--', repository.remote, `${plan.to}:${plan.ref}`], signal);
  return answerOfPush(pushed, plan);
}

/** Reasons by which the remote says, in a complete report, that it decided not to move the ref. */
const DECLINED = /\((stale info|pre-receive hook declined|hook declined|deny updating a hidden ref)\)$/;

function answerOfPush({ code, stdout, reason }: GitRan, plan: RefPlan): SendAnswer {
  const line = stdout.split('\n').find((text) => text.includes(`:${plan.ref}\t`)) ?? '';
  if (code === 0 && /^[ +*]\t/.test(line) && stdout.includes('\nDone'))
    return { answer: 'succeeded', result: resultOf(plan) };
  if (code === 1 && line.startsWith('!\t') && DECLINED.test(line))
    return { answer: 'refused', reason: `the remote declined${line.slice(line.lastIndexOf(' ('))}` };
  return { answer: 'uncertain', reason };
}
