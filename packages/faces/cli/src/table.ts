import { oneLine } from './context.ts';

/** Rows as columns under headings, the last one as wide as it likes. */
export function columns(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const clean = rows.map((row) => row.map(oneLine));
  const widths = headings.map((heading, at) => Math.max(heading.length, ...clean.map((row) => (row[at] ?? '').length)));
  return [headings, ...clean].map((row) =>
    row
      .map((cell, at) => (at === headings.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
