import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

const SCOPE = 'headway';
const LONGEST_TRACE_STATE = 512;

export interface Telemetry {
  readonly enabled: boolean;
  /** Sends what is still held, then stops. */
  shutdown(): Promise<void>;
}

/**
 * Sends traces to the OTLP endpoint that `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` names.
 * Without one nothing is loaded. The standard `OTEL_…` variables apply.
 */
export async function startTelemetry(service: string): Promise<Telemetry> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = process.env;
  if (!endpoint && !traces) return { enabled: false, shutdown: async () => {} };
  const [{ NodeSDK }, { BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': SCOPE }),
    autoDetectResources: false,
    // The exporter goes in by name: given by position it is ignored and no span ever leaves.
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
  });
  sdk.start();
  return { enabled: true, shutdown: () => sdk.shutdown() };
}

/** What `inSpan` hands to the work done within the span. */
export interface InSpan {
  readonly span: Span;
  /** The context with the span in it, for `injectTrace` and for spans below it. */
  readonly context: Context;
}

export interface SpanSettings {
  /** The context that the span continues; default: the active one. */
  readonly parent?: Context;
  readonly kind?: SpanKind;
}

/** Runs `work` within a span of this name. A thrown error is recorded on it and thrown on. */
export async function inSpan<Value>(
  name: string,
  attributes: Attributes,
  work: (scope: InSpan) => Promise<Value> | Value,
  settings: SpanSettings = {},
): Promise<Value> {
  const parent = settings.parent ?? context.active();
  const span = trace.getTracer(SCOPE).startSpan(name, { attributes, kind: settings.kind ?? SpanKind.INTERNAL }, parent);
  const within = trace.setSpan(parent, span);
  try {
    return await context.with(within, () => work({ span, context: within }));
  } catch (error) {
    span.recordException(error instanceof Error ? error : String(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** Begins a span that someone else ends, and the context that holds it. */
export function beginSpan(name: string, attributes: Attributes, kind: SpanKind, parent: Context): InSpan {
  const span = trace.getTracer(SCOPE).startSpan(name, { attributes, kind }, parent);
  return { span, context: trace.setSpan(parent, span) };
}

/**
 * The headers with the W3C trace context of `from` (default: the active context) added. Works without telemetry too: a
 * trace that came in with a request then goes on unchanged.
 */
export function injectTrace(
  headers: Readonly<Record<string, string>>,
  from: Context = context.active(),
): Record<string, string> {
  const current = trace.getSpanContext(from);
  if (current === undefined || !isSpanContextValid(current)) return { ...headers };
  const flags = (current.traceFlags & 0xff).toString(16).padStart(2, '0');
  const state = current.traceState?.serialize() ?? '';
  return {
    ...headers,
    traceparent: `00-${current.traceId}-${current.spanId}-${flags}`,
    ...(state === '' || state.length > LONGEST_TRACE_STATE ? {} : { tracestate: state }),
  };
}

/** The context that headers carry, or the root context where they carry none that is valid. */
export function extractTrace(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Context {
  const remote = parseTraceparent(headers.traceparent);
  if (remote === null) return ROOT_CONTEXT;
  const state = headers.tracestate;
  const traceState =
    typeof state === 'string' && state !== '' && state.length <= LONGEST_TRACE_STATE
      ? { traceState: createTraceState(state) }
      : {};
  return trace.setSpanContext(ROOT_CONTEXT, { ...remote, ...traceState });
}

function parseTraceparent(text: unknown): SpanContext | null {
  if (typeof text !== 'string' || text.length > LONGEST_TRACE_STATE) return null;
  const match = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/.exec(text);
  if (match === null) return null;
  const found: SpanContext = {
    traceId: match[1] as string,
    spanId: match[2] as string,
    traceFlags: Number.parseInt(match[3] as string, 16),
    isRemote: true,
  };
  return isSpanContextValid(found) ? found : null;
}
