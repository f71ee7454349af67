import type { Adapter } from '@headway/effects';
import { publishOnce } from '@headway/eventlog';
import { ok, refused } from '@headway/kernel';
import { z } from 'zod';
import type { NatsTargets } from '../targets.ts';
import { readInputs } from './read-inputs.ts';

const inputsSchema = z.strictObject({ json: z.json() });

export interface PublishPlan {
  readonly bus: string;
  readonly subject: string;
  readonly body: string;
}

/**
 * `nats.publish`, class K: one message to a stream of another system's NATS, with the operation's id as its message id. The
 * target is `<bus>/<subject>`. The server stores no second one within its duplicate window and answers with the sequence of
 * the first; beyond the window nothing is repeated by machine. A stream that remembers for less than is declared is refused.
 */
export function createNatsPublishAdapter(targets: NatsTargets): Adapter<PublishPlan> {
  const buses = new Map(targets.buses.map((bus) => [bus.name, bus]));
  return {
    kind: 'nats.publish',
    class: 'K',
    timeoutMs: targets.timeoutMs,
    processingMs: targets.processingSeconds * 1_000,
    retentionMs: targets.duplicateWindowSeconds * 1_000,
    prepare({ target, inputs }) {
      const slash = target.indexOf('/');
      const bus = buses.get(target.slice(0, Math.max(0, slash)));
      const subject = target.slice(slash + 1);
      if (bus === undefined || !isSubject(subject) || !bus.subjects.some((prefix) => subject.startsWith(`${prefix}.`)))
        return refused({
          detail:
            'The target has to be <bus>/<subject> of the targets file: a subject below a listed one, without wildcards.',
          pointer: '/target',
        });
      const read = readInputs(inputsSchema, inputs);
      if (!read.ok) return read;
      return ok({ plan: { bus: bus.name, subject, body: JSON.stringify(read.value.json) }, resource: null });
    },
    async send({ operation, plan, signal }) {
      const bus = buses.get(plan.bus);
      if (bus === undefined) return { answer: 'not-sent', reason: 'the bus is not listed any more' };
      const { url: server, stream } = bus;
      const rememberedSeconds = targets.duplicateWindowSeconds;
      const outcome = await publishOnce({ ...plan, server, stream, id: operation, rememberedSeconds, signal });
      if (outcome.came === 'stored') return { answer: 'succeeded', result: { stream, sequence: outcome.sequence } };
      return { answer: outcome.came === 'unknown' ? 'uncertain' : outcome.came, reason: outcome.reason };
    },
    observe: async () => ({ observed: 'unobservable' }),
    close: async () => {},
  };
}

const isSubject = (subject: string): boolean =>
  subject.length <= 255 && /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(subject);
