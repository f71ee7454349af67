/** What a command's exit code tells. `gate` answers with the gate's own. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, refused: 3, uncertain: 4, unavailable: 5 } as const;
export type ExitCode = number;
