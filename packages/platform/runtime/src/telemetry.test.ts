import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLogger, extractTrace, injectTrace, inSpan, startTelemetry } from './index.ts';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('trace context in headers, without telemetry', () => {
  it('loads nothing and still passes a trace on', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', '');
    vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', '');
    expect((await startTelemetry('ingest')).enabled).toBe(false);
    vi.unstubAllEnvs();
    const parent = extractTrace({ traceparent: PARENT, tracestate: 'vendor=1' });
    const headers = await inSpan('accept', {}, (scope) => injectTrace({ a: 'b' }, scope.context), { parent });
    expect(headers).toEqual({ a: 'b', traceparent: PARENT, tracestate: 'vendor=1' });
  });

  it.each([
    undefined,
    '',
    'x',
    PARENT.replace('00-', 'ff-'),
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
    PARENT.toUpperCase(),
    `${PARENT}0`,
    [PARENT, PARENT],
  ])('takes %j for no trace', (traceparent) => {
    expect(extractTrace({ traceparent })).toBe(ROOT_CONTEXT);
    expect(injectTrace({ a: 'b' }, extractTrace({ traceparent }))).toEqual({ a: 'b' });
  });
});

interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  status?: { code?: number };
}

describe('with an endpoint', () => {
  const spans: ExportedSpan[] = [];
  const services: unknown[] = [];
  let receiver: Server;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        for (const resource of body.resourceSpans) {
          services.push(...resource.resource.attributes);
          for (const scope of resource.scopeSpans) spans.push(...scope.spans);
        }
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => new Promise((resolve) => receiver.close(resolve)));

  it("sends spans whose parent is the sender's span on the other side of the headers", async () => {
    const { port } = receiver.address() as AddressInfo;
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${port}`);
    const telemetry = await startTelemetry('ingest');
    expect(telemetry.enabled).toBe(true);
    const lines: string[] = [];
    const logger = createLogger(
      'ingest',
      new Writable({
        write(chunk, _encoding, done) {
          lines.push(String(chunk));
          done();
        },
      }),
    );

    const headers = await inSpan('ingest.accept', { events: 1 }, async () => {
      await Promise.resolve();
      logger.info('within');
      return injectTrace({});
    });
    await inSpan('classifier.fold', {}, () => {}, { parent: extractTrace(headers) });
    await expect(
      inSpan('classifier.break', {}, () => {
        throw new Error('broken');
      }),
    ).rejects.toThrow('broken');
    await telemetry.shutdown();
    trace.disable();

    const [accept, fold, broken] = ['ingest.accept', 'classifier.fold', 'classifier.break'].map((name) =>
      spans.find((span) => span.name === name),
    );
    expect(fold?.traceId).toBe(accept?.traceId);
    expect(fold?.parentSpanId).toBe(accept?.spanId);
    expect(accept?.parentSpanId || null).toBeNull();
    expect(broken?.status?.code).toBe(2);
    expect(JSON.parse(lines[0] as string)).toMatchObject({ trace_id: accept?.traceId, span_id: accept?.spanId });
    expect(services).toContainEqual({ key: 'service.name', value: { stringValue: 'ingest' } });
  });
});
