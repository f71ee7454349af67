import { isSpanContextValid, trace } from '@opentelemetry/api';
import { destination as createDestination, type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

export type { Logger } from 'pino';

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Members of a logged object that are never written, at the top and one or two levels below. */
const secretMembers = ['authorization', 'Authorization', 'token', 'password', 'secret', 'cookie'];
const redacted = secretMembers.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/**
 * JSON lines to standard output, each with `service` and, within a span, `trace_id` and `span_id`. The level is that of
 * `HEADWAY_LOG_LEVEL` (default `info`; an unknown one is `info` too). Tokens in objects are replaced by `[redacted]`.
 */
export function createLogger(service: string, destination?: DestinationStream): Logger {
  const level = process.env.HEADWAY_LOG_LEVEL ?? 'info';
  const options: LoggerOptions = {
    level: levels.includes(level) ? level : 'info',
    base: { service },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: redacted, censor: '[redacted]' },
    mixin: traceIds,
  };
  // Written at once: a line written later is lost, or comes after its successors, when the process ends.
  return pino(options, destination ?? createDestination({ dest: 1, sync: true }));
}

function traceIds(): object {
  const context = trace.getActiveSpan()?.spanContext();
  return context !== undefined && isSpanContextValid(context)
    ? { trace_id: context.traceId, span_id: context.spanId }
    : {};
}
