import { parseSubject, partitionOf, type SignalsRecord } from '@headway/contracts';
import type { LogMessage } from '@headway/eventlog';
import { acknowledgementsOf, judgeEvidence } from '@headway/trajectory';
import type { Policies } from './policies.ts';
import type { Works } from './works.ts';

/** How long a work stands still for the signaller's judgment of a reply before the reader gives up and starts anew. */
export const JUDGMENT_SECONDS = 30;

/** What is known of the signaller's judgments: up to which trajectory record each tenant's signals go. */
export interface Answers {
  /**
   * Settles when the signals read so far cover a sequence of RECORD; fails after {@link JUDGMENT_SECONDS}, and at once
   * when the readers are to end: the signaller may end with them.
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
}

export function createAnswers(parts: AnsweringParts): Answers {
  const covered = new Map<string, number>();
  const waiting = new Set<() => void>();

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
        const fail = (reason: string) => {
          done();
          reject(new Error(reason));
        };
        const look = () => {
          if ((covered.get(tenant) ?? 0) < sequence) return;
          done();
          resolve();
        };
        const end = () => fail('the readers end');
        const late = `the signaller of tenant ${tenant} did not judge a reply in ${JUDGMENT_SECONDS} seconds`;
        const timer = setTimeout(() => fail(late), JUDGMENT_SECONDS * 1_000);
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
