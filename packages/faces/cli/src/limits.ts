/** What bounds the command line. Times in milliseconds. */
export const cliLimits = {
  /** Gate output kept for the report: this much of the beginning and the same of the end, in bytes. */
  outputHalfBytes: 31 * 1024,
  /** Reporting a gate: one request. The gate has ended by then, and its caller waits. */
  reportMs: 2_000,
  /** Sending what waits in the spool before a report, in all. */
  drainMs: 4_000,
  /** Reports that wait on disk for one server; more are dropped, the newest first, and said. */
  spoolFiles: 10_000,
  /** Sending from the spool: reports in one request. */
  spoolBatch: 200,
  /** Bytes of one request from the spool. */
  spoolBatchBytes: 8 * 1024 * 1024,
  /** Waiting for another process that is sending from the same spool. */
  spoolLockMs: 1_000,
  /** A lock on the spool that is older than this was left by a process that died. */
  spoolLockStaleMs: 60_000,
  /** One git command. */
  gitMs: 15_000,
  /** Output of one git command, in bytes. */
  gitBytes: 64 * 1024 * 1024,
  /** Changed files, tracked and untracked, beyond which the diff state is not computed. */
  changedFiles: 20_000,
  /** Bytes of changed files that are read, beyond which the diff state is not computed. */
  changedBytes: 512 * 1024 * 1024,
  /** Bytes of the list of files in a report; a longer list is left out, the hash stands. */
  fileListBytes: 200 * 1024,
  /** Works whose base is remembered. */
  bases: 2_000,
  /** A read of the API. */
  readMs: 15_000,
  /** Malformed lines that `classify` describes one by one. */
  malformedShown: 100,
  /** Characters of one line of NDJSON. */
  lineChars: 1024 * 1024,
  /** Bytes of a case file or an array, which are read as a whole. */
  documentBytes: 512 * 1024 * 1024,
} as const;
