import { extractTrace, injectTrace, inSpan } from '@headway/runtime';

/** Headers with a W3C trace context, or without one. */
export type Headers = Readonly<Record<string, string>>;

export const untraced: Headers = {};

/**
 * Runs a step as a span of the trace that a message carries, and hands it the headers that what it writes has to carry. A
 * message without a trace begins none: most evidence is reported without one.
 */
export function inTraceOf<Value>(
  name: string,
  carried: Headers,
  step: (headers: Headers) => Promise<Value>,
): Promise<Value> {
  if (carried.traceparent === undefined) return step(untraced);
  return inSpan(name, {}, ({ context }) => step(injectTrace({}, context)), { parent: extractTrace(carried) });
}
