import { createHash } from 'node:crypto';
import type { Problem, StreamName } from '@headway/contracts';
import { createHttp } from '@headway/runtime';
import { createCoverage } from '../src/coverage.ts';
import type { Decode } from '../src/decode.ts';
import { mountOperating, mountReading } from '../src/routes/mount.ts';
import type { Rig } from './rig.ts';

const TOKEN = 'the-operator-token-of-these-tests';

/** The API over a projection that runs; `read` plays another version of the code. The caller closes it. */
export function apiOver(rig: Rig, read?: Decode) {
  const projecting = rig.project(read);
  const { views } = rig.model;
  const app = createHttp({
    service: 'projection',
    logger: rig.logger,
    access: { operatorTokenSha256: createHash('sha256').update(TOKEN).digest(), loopbackOpen: true },
    checks: projecting.checks,
    publicHosts: [],
  });
  const endOf = async (stream: string) => (await rig.log.describe(stream as StreamName)).lastSequence;
  const covered = createCoverage({ views, watch: rig.watch, generationOf: projecting.generationOf, endOf });
  const reading = { views, watch: rig.watch, covered };
  mountReading(app, reading);
  mountOperating(app, { ...reading, log: rig.log, projecting, endOf });
  return {
    app,
    projecting,
    get: async <Body>(url: string) => {
      const answer = await app.inject({ url });
      return { status: answer.statusCode, body: answer.json<Body>() };
    },
    /** As an operator, unless without a token. */
    act: async (url: string, body: object, token: string | null = TOKEN) => {
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      const answer = await app.inject({ method: 'POST', url, payload: body, headers });
      return { status: answer.statusCode, body: answer.json<Problem & { position: string }>() };
    },
  };
}
