/** Every limit on what comes in, in one place. Bytes are of the UTF-8 text as received. */
export const limits = {
  /** One event, as JSON. */
  eventBytes: 512 * 1024,
  /** Events in one request. */
  batchEvents: 1_000,
  /** One request body. */
  batchBytes: 16 * 1024 * 1024,
  /** Nesting of objects and arrays in one event. */
  depth: 32,
  /** A work's id, in UTF-16 code units. */
  workId: 200,
  /** A tenant's id. */
  tenantId: 64,
  /** A CloudEvents `id` or `source`. */
  identityPart: 1_024,
  /** Names: gates, workers, lanes, paths. */
  name: 1_024,
  /** Failures in one attempt that are kept; the rest is counted. */
  failures: 2_000,
  /** Characters of one failure key. */
  failureKey: 2_000,
  /** Gate output that is kept with an attempt. */
  outputBytes: 64 * 1024,
  /** Free text: notes, reasons, messages. */
  text: 16 * 1024,
  /** Files listed in one diff or commit. */
  files: 5_000,
  /** Events packed into one message of the log. */
  commitEvents: 256,
  /** Bytes of one message of the log: below the default maximum of a NATS server, with room for the envelope. */
  commitBytes: 900 * 1024,
  /** Works, timeline entries or signals on one page. */
  page: 500,
} as const;
