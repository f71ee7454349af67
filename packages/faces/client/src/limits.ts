/** What bounds the client. Times are in milliseconds. */
export const clientLimits = {
  /** One request, from connecting to the end of the answer. */
  requestMs: 30_000,
  /** From asking for the stream to its first byte. */
  streamConnectMs: 10_000,
  /** The server speaks at least this often on a stream; silence for longer is a dead connection. */
  streamSilenceMs: 90_000,
  /** First and longest wait before the stream is asked for again. */
  backoffMs: 250,
  backoffMostMs: 10_000,
  /** Attempts in a row without an event before the stream is given up. */
  streamAttempts: 30,
  /** Bytes of one answer. */
  answerBytes: 64 * 1024 * 1024,
  /** Characters of one event of the stream. */
  streamEventChars: 4 * 1024 * 1024,
} as const;
