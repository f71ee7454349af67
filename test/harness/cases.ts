import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './services.ts';

/** A labelled trajectory: what happened, and what has to be said of it at the end. */
export interface Case {
  readonly name: string;
  readonly why: string;
  readonly events: readonly CaseEvent[];
  readonly expect: Expectation;
}

export interface CaseEvent {
  readonly type: string;
  readonly subject?: string;
  readonly id?: string;
  readonly source?: string;
  readonly incarnation?: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Expectation {
  readonly class?: string | null;
  readonly rule?: string | null;
  readonly signal?: boolean;
  readonly signals?: number;
  readonly open?: number;
  readonly acknowledged?: number;
  readonly withdrawn?: number;
  readonly forbid?: readonly string[];
  readonly shared?: readonly { readonly gate: string; readonly works: readonly string[] }[];
  readonly done?: boolean;
}

const folder = join(process.env.HEADWAY_CASES ?? join(repositoryRoot, '..', 'shared', 'cases'), 'trajectory');

/** The labelled trajectories, where this machine has them; else none, and a line that says so. */
export function readCases(): readonly Case[] {
  if (!existsSync(folder)) {
    process.stderr.write(
      `skipped: there are no labelled trajectories at ${folder}; set HEADWAY_CASES to the folder that holds trajectory/\n`,
    );
    return [];
  }
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Case);
}

/** The file of a case. */
export const caseFile = (name: string): string => join(folder, `${name}.json`);

export const worksOf = (example: Case): ReadonlySet<string> =>
  new Set(example.events.map((event) => event.subject ?? 'W-1'));
