import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { type EvidenceType, limits } from '@headway/contracts';

/** Who reports: `headway-cli/<host>/<worker or user>`. With a new id for each attempt this is the event's identity. */
export function sourceOf(worker: string | undefined): string {
  return `headway-cli/${hostname() || 'host'}/${worker || userName()}`.slice(0, limits.identityPart);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'user';
  }
}

export interface ReportedEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly subject: string;
  readonly type: EvidenceType;
  readonly time: string;
  readonly incarnation?: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export function newEvent(
  type: EvidenceType,
  work: string,
  options: { readonly worker?: string | undefined; readonly incarnation?: number | undefined },
  data: Readonly<Record<string, unknown>>,
): ReportedEvent {
  return {
    specversion: '1.0',
    id: randomUUID(),
    source: sourceOf(options.worker),
    subject: work,
    type,
    time: new Date().toISOString(),
    ...(options.incarnation === undefined ? {} : { incarnation: options.incarnation }),
    data,
  };
}

type Attempt = Record<string, unknown> & {
  failures?: readonly { key: string; message?: string }[];
  diff?: ({ files?: unknown } & Record<string, unknown>) | null;
};

/** An attempt that fits an event: what rules need least goes first. Deterministic, so that equal sets stay equal. */
export function fitAttempt(data: Attempt): Attempt {
  const fits = (candidate: Attempt): boolean =>
    Buffer.byteLength(JSON.stringify(candidate)) <= limits.eventBytes - 8_192;
  let fitted = data;
  if (fits(fitted)) return fitted;
  if (fitted.failures !== undefined) fitted = { ...fitted, failures: fitted.failures.map(({ key }) => ({ key })) };
  if (fits(fitted)) return fitted;
  if (fitted.diff != null) {
    const { files: _, ...diff } = fitted.diff;
    fitted = { ...fitted, diff };
  }
  if (fits(fitted)) return fitted;
  const { output: _, ...rest } = fitted;
  fitted = rest;
  while (!fits(fitted) && fitted.failures !== undefined && fitted.failures.length > 1)
    fitted = { ...fitted, failures: fitted.failures.slice(0, Math.floor(fitted.failures.length / 2)) };
  return fitted;
}
