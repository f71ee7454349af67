import { setTimeout as wait } from 'node:timers/promises';
import type { Problem } from '@headway/contracts';
import { failureOf } from './answer.ts';
import { clientLimits } from './limits.ts';

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Resumes after this event; absent = from now on. */
  readonly lastEventId?: string | undefined;
  readonly work?: string | undefined;
  readonly kind?: string | undefined;
  /** First wait before asking again, in milliseconds; it doubles up to a limit. */
  readonly backoffMs?: number;
}

export type StreamItem =
  | { readonly kind: 'event'; readonly id: string | null; readonly event: string; readonly data: unknown }
  /** The connection broke; the stream goes on after the wait, from the last event. */
  | { readonly kind: 'interrupted'; readonly reason: string; readonly waitMs: number }
  | { readonly kind: 'refused'; readonly problem: Problem }
  | { readonly kind: 'unavailable'; readonly reason: string };

type Open = (lastEventId: string | null, signal: AbortSignal) => Promise<Response>;

/** Reads server-sent events and resumes with `Last-Event-ID`, waiting longer each time, up to a number of attempts. */
export async function* readStream(options: StreamOptions & { readonly open: Open }): AsyncGenerator<StreamItem> {
  const first = options.backoffMs ?? clientLimits.backoffMs;
  let lastEventId = options.lastEventId ?? null;
  let waitMs = first;
  let attempts = 0;
  let reason = 'the stream ended';
  while (!options.signal.aborted) {
    const silence = new AbortController();
    const watch = watchdog(silence, clientLimits.streamConnectMs);
    try {
      const response = await options.open(lastEventId, AbortSignal.any([options.signal, silence.signal]));
      if (!response.ok || response.body === null) {
        const failure = failureOf(response.status, await response.text());
        if (failure.kind === 'refused') {
          yield failure;
          return;
        }
        throw new Error(failure.reason);
      }
      for await (const event of parseEvents(response.body, () => watch.reset(clientLimits.streamSilenceMs))) {
        if (event.id !== null) lastEventId = event.id;
        if (event.retryMs !== null) waitMs = Math.min(event.retryMs, clientLimits.backoffMostMs);
        if (event.data === null) continue;
        attempts = 0;
        if (event.retryMs === null) waitMs = first;
        yield { kind: 'event', id: event.id, event: event.event, data: event.data };
      }
      reason = 'the stream ended';
    } catch (error) {
      reason = silence.signal.aborted ? 'the server fell silent' : messageOf(error);
    } finally {
      watch.stop();
    }
    if (options.signal.aborted) return;
    attempts += 1;
    if (attempts >= clientLimits.streamAttempts) {
      yield { kind: 'unavailable', reason: `${reason}; given up after ${attempts} attempts` };
      return;
    }
    yield { kind: 'interrupted', reason, waitMs };
    try {
      await wait(waitMs, undefined, { signal: options.signal });
    } catch {
      return;
    }
    waitMs = Math.min(waitMs * 2, clientLimits.backoffMostMs);
  }
}

function watchdog(controller: AbortController, firstMs: number) {
  let timer = setTimeout(() => controller.abort(), firstMs);
  return {
    reset(ms: number) {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(), ms);
    },
    stop: () => clearTimeout(timer),
  };
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}

interface RawEvent {
  readonly id: string | null;
  readonly event: string;
  /** `null` = the block had no data. */
  readonly data: unknown;
  readonly retryMs: number | null;
}

/** The event stream format: blocks of `field: value` lines, each ended by an empty line. */
export async function* parseEvents(body: AsyncIterable<Uint8Array>, onBytes: () => void): AsyncGenerator<RawEvent> {
  const decoder = new TextDecoder();
  let pending = '';
  let lines: string[] = [];
  let size = 0;
  for await (const chunk of body) {
    onBytes();
    pending += decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be half of a line end.
    const whole = pending.endsWith('\r') ? pending.slice(0, -1) : pending;
    const parts = whole.split(/\r\n|\r|\n/);
    pending = (parts.pop() ?? '') + (whole === pending ? '' : '\r');
    for (const line of parts) {
      size += line.length;
      if (line !== '') {
        lines.push(line);
        continue;
      }
      if (lines.length > 0) yield readBlock(lines);
      lines = [];
      size = 0;
    }
    if (size + pending.length > clientLimits.streamEventChars) throw new Error('an event of the stream is too large');
  }
}

function readBlock(lines: readonly string[]): RawEvent {
  const data: string[] = [];
  let id: string | null = null;
  let event = 'message';
  let retryMs: number | null = null;
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'event') event = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value);
  }
  return { id, event, data: data.length === 0 ? null : parsedOrText(data.join('\n')), retryMs };
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
