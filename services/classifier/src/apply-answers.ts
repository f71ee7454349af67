import { parseSubject, partitionOf, type SignalsRecord } from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import { acknowledgementsOf, judgeEvidence } from '@headway/trajectory';
import type { Policies } from './policies.ts';
import type { Works } from './works.ts';

/**
 * How long all works stand still for the signaller's judgment of a reply of one; then that one waits alone, and so does
 * every further one of its tenant at once, until the signaller has judged again.
 */
export const JUDGMENT_SECONDS = 30;

/** The signals of a tenant stand still, so that a reply is not judged. */
export class Unjudged extends Error {
  override readonly name = 'Unjudged';
}

/** What is known of the signaller's judgments: up to which trajectory record each tenant's signals go. */
export interface Answers {
  /**
   * Settles when the signals read so far cover a sequence of RECORD; fails with {@link Unjudged} after
   * {@link JUDGMENT_SECONDS}, and at once when the readers are to end: the signaller may end with them.
   */
  judged(tenant: string, sequence: number): Promise<void>;
  /** Tells what the newest signals of each tenant cover, of those that `apply` will not be given any more. */
  readBefore(messages: readonly LogMessage[]): void;
  /** Feeds acknowledgements back into the works they concern, and records what changed. Runs inside a turn. */
  apply(messages: readonly LogMessage[]): Promise<void>;
}

export interface AnsweringParts {
  readonly works: Works;
  readonly owns: (partition: number) => boolean;
  readonly policies: Policies;
  readonly signal: AbortSignal;
  /** Called when signals that works had given up waiting for have come after all: they are to be read again. */
  readonly onLate: () => void;
  /** {@link JUDGMENT_SECONDS} unless told. */
  readonly judgmentSeconds?: number;
}

export function createAnswers(parts: AnsweringParts): Answers {
  const covered = new Map<string, number>();
  const waiting = new Set<() => void>();
  /** What each tenant's signals have to cover before the works that were given up are read again. */
  const late = new Map<string, number>();
  const { judgmentSeconds = JUDGMENT_SECONDS } = parts;

  const applyOne = async (tenant: string, message: LogMessage, record: SignalsRecord) => {
    for (const [name, facts] of byWork(acknowledgementsOf(record.events))) {
      if (!parts.owns(partitionOf(tenant, name))) continue;
      const work = await parts.works.open(tenant, name);
      if (message.sequence <= work.answered) continue;
      for (const fact of facts) {
        // The policy of what it answers: an answer comes by another stream than the changes of policies.
        const policy = parts.policies.version(tenant, work.state.recorded);
        const judged = judgeEvidence(work.state, fact, { tenant, work: name }, () => policy);
        work.state = judged.state;
        work.pending.push(...judged.events);
      }
      work.answered = message.sequence;
      parts.works.changed(work);
    }
    covered.set(tenant, Math.max(record.covered, covered.get(tenant) ?? 0));
  };

  return {
    readBefore: (messages) => {
      for (const message of messages) {
        const meaning = parseSubject(message.subject);
        if (meaning?.kind === 'signals') covered.set(meaning.tenant, recordOf(message).covered);
      }
    },
    judged: (tenant, sequence) =>
      new Promise((resolve, reject) => {
        const done = () => {
          clearTimeout(timer);
          waiting.delete(look);
          parts.signal.removeEventListener('abort', end);
        };
        const fail = (reason: Error) => {
          done();
          reject(reason);
        };
        const look = () => {
          if ((covered.get(tenant) ?? 0) < sequence) return;
          done();
          resolve();
        };
        const end = () => fail(new Error('the readers end'));
        const giveUp = () => {
          late.set(tenant, Math.max(sequence, late.get(tenant) ?? 0));
          fail(new Unjudged(`the signaller of tenant ${tenant} did not judge a reply in ${judgmentSeconds} seconds`));
        };
        const timer = setTimeout(giveUp, late.has(tenant) ? 0 : judgmentSeconds * 1_000);
        parts.signal.addEventListener('abort', end);
        waiting.add(look);
        if (parts.signal.aborted) end();
        else look();
      }),
    apply: async (messages) => {
      for (const message of messages) {
        const meaning = parseSubject(message.subject);
        if (meaning?.kind !== 'signals') continue;
        await applyOne(meaning.tenant, message, recordOf(message));
      }
      await parts.works.record();
      for (const look of [...waiting]) look();
      if ([...late].some(([tenant, sequence]) => (covered.get(tenant) ?? 0) >= sequence)) parts.onLate();
    },
  };
}

/** One record may acknowledge several signals of one work: all of them are folded, or none is. */
function byWork(acknowledgements: ReturnType<typeof acknowledgementsOf>) {
  const facts = new Map<string, (typeof acknowledgements)[number]['fact'][]>();
  for (const { work, fact } of acknowledgements) facts.set(work, [...(facts.get(work) ?? []), fact]);
  return facts;
}

const recordOf = (message: LogMessage): SignalsRecord =>
  JSON.parse(Buffer.from(message.payload).toString('utf8')) as SignalsRecord;
