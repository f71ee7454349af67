import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes a file of its owner only, so that a reader, or the next start after a crash, sees the old content or the new one, never half. */
export function replaceFile(path: string, text: string): void {
  const staging = `${path}.new`;
  rmSync(staging, { force: true });
  writeFileSync(staging, text, { mode: 0o600 });
  renameSync(staging, path);
}
