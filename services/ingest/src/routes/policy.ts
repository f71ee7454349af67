import {
  encodeRecord,
  formatPosition,
  POLICY_VERSIONS,
  type PolicyAnswer,
  type PolicyChange,
  type PolicyCommit,
  type PolicySet,
  type Problem,
  policyChangeSchema,
  policyOf,
  problem,
  STREAMS,
  subjects,
} from '@headway/contracts';
import type { EventLog, LogMessage } from '@headway/eventlog';
import { type Clock, digest, ok, type Result, refused } from '@headway/kernel';
import { sendProblem } from '@headway/runtime';
import type { FastifyInstance } from 'fastify';
import { OWN_SOURCE } from '../intake/report.ts';
import { readBody } from './body.ts';

const POLICY_BYTES = 16 * 1024;
/** Attempts against others who change a policy of the tenant at the same time. */
const ATTEMPTS = 5;

export interface PolicyRoute {
  readonly log: Pick<EventLog, 'append' | 'last'>;
  readonly clock: Clock;
}

/**
 * `PUT /v1/policy`: the numbers of the rules, for the tenant or for one of its lanes. The change stands in the stream of
 * the evidence: what came before it is judged by the numbers of before, whenever it is read again.
 */
export function mountPolicy(app: FastifyInstance, route: PolicyRoute): void {
  app.put('/v1/policy', { config: { act: 'operate' }, bodyLimit: POLICY_BYTES }, async (request, reply) => {
    const body = readBody(policyChangeSchema, request.body);
    if (!body.ok) return sendProblem(reply, body.failure);
    const answer = await setPolicy(route, request.caller.tenant, body.value);
    return answer.ok ? reply.send(answer.value) : sendProblem(reply, answer.failure);
  });
}

async function setPolicy(
  { log, clock }: PolicyRoute,
  tenant: string,
  change: PolicyChange,
): Promise<Result<PolicyAnswer, Problem>> {
  const subject = subjects.policy(tenant);
  const moved = (version: number) =>
    refused(problem('policy_moved', `The newest version is ${version}. Look at \`GET /v1/policy\` and send it again.`));
  const away = () => refused(problem('log_unavailable', 'The log did not acknowledge the policy. Send it again.'));
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const last = await log.last(STREAMS.evidence, subject);
      // None in the evidence: then the newest one may have been trimmed out of it.
      const kept = last ?? (await log.last(STREAMS.record, subjects.keptPolicy(tenant, 'newest')));
      const newest = kept === null ? null : changeOf(kept);
      const version = newest?.data.version ?? 0;
      // The same change again: a retry whose answer was lost.
      if (last !== null && newest !== null && isSame(newest, change))
        return ok({ version, lane: change.lane, unchanged: true, position: formatPosition(last) });
      if (change.expectedVersion !== undefined && change.expectedVersion !== version) return moved(version);
      if (version >= POLICY_VERSIONS)
        return refused(
          problem(
            'too_many_versions',
            `A tenant's policies may be changed ${POLICY_VERSIONS} times. Use another tenant.`,
          ),
        );
      const event = changeEvent(tenant, version + 1, change, clock);
      const appended = await log.append({
        subject,
        messageId: event.id,
        payload: encodeRecord({ v: 1, events: [event] } satisfies PolicyCommit),
        expectedLastSequence: last?.sequence ?? 0,
      });
      if (appended.outcome === 'unavailable') return away();
      if (appended.outcome === 'conflict') continue;
      return ok({
        version: version + 1,
        lane: change.lane,
        unchanged: false,
        position: formatPosition(appended.position),
      });
    }
    return away();
  } catch {
    return away();
  }
}

function changeEvent(tenant: string, version: number, change: PolicyChange, clock: Clock): PolicySet {
  const { lane, by, why } = change;
  const numbers = change.numbers === null ? null : (policyOf(version, change.numbers).differs ?? {});
  return {
    specversion: '1.0',
    id: digest('policy', tenant, version, lane, JSON.stringify(numbers), by, why),
    source: OWN_SOURCE,
    type: 'headway.policy.set',
    time: new Date(clock.now()).toISOString(),
    data: { version, lane, numbers, by, why },
  };
}

function isSame({ data }: PolicySet, { lane, numbers, by, why }: PolicyChange): boolean {
  const wanted = numbers === null ? null : (policyOf(0, numbers).differs ?? {});
  return data.lane === lane && data.by === by && data.why === why && sameNumbers(data.numbers, wanted);
}

const sameNumbers = (one: object | null, other: object | null): boolean =>
  JSON.stringify(one === null ? null : Object.entries(one).sort()) ===
  JSON.stringify(other === null ? null : Object.entries(other).sort());

const changeOf = ({ payload }: LogMessage): PolicySet =>
  (JSON.parse(Buffer.from(payload).toString('utf8')) as PolicyCommit).events[0];
