import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createClassification } from '../src/index.ts';

/** What a labelled trajectory expects at its end; `null` and absent members are not asked. */
interface Expected {
  readonly class?: string | null;
  readonly rule?: string | null;
  readonly signal?: boolean;
  readonly signals?: number;
  readonly open?: number;
  readonly acknowledged?: number;
  readonly withdrawn?: number;
  readonly forbid?: readonly string[];
  readonly shared?: readonly { gate: string; works?: readonly string[] }[];
  readonly done?: boolean;
}
interface Case {
  readonly name: string;
  readonly why: string;
  readonly events: readonly unknown[];
  readonly expect: Expected;
}

const here = resolve(import.meta.dirname, '../../../..');
const folder = resolve(process.env.HEADWAY_CASES ?? resolve(here, '../shared/cases'), 'trajectory');
const own = resolve(import.meta.dirname, 'cases');

const casesIn = (path: string): Case[] =>
  readdirSync(path)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(resolve(path, file), 'utf8')) as Case);

/** What the case asks for, as the pipeline has it at the end. */
function outcome(labelled: Case): Expected {
  const pipeline = createClassification();
  for (const event of labelled.events) {
    const pushed = pipeline.push(event, { defaults: true });
    if (pushed.kind === 'malformed') throw new Error(pushed.problem.detail);
  }
  const { class: name, rule, done } = pipeline.line('W-1');
  const { open, signals, acknowledged, withdrawn } = pipeline.summary().summary;
  const asked = labelled.expect;
  return {
    ...(asked.class == null ? {} : { class: name }),
    ...(asked.rule == null ? {} : { rule }),
    ...(asked.signal === undefined ? {} : { signal: open > 0 }),
    ...(asked.signals === undefined ? {} : { signals }),
    ...(asked.open === undefined ? {} : { open }),
    ...(asked.acknowledged === undefined ? {} : { acknowledged }),
    ...(asked.withdrawn === undefined ? {} : { withdrawn }),
    ...(asked.shared === undefined
      ? {}
      : { shared: pipeline.shared().map(({ shared: { gate, works } }) => ({ gate, works })) }),
    ...(asked.done === undefined ? {} : { done }),
    ...(asked.forbid === undefined ? {} : { forbid: asked.forbid.filter((one) => one !== name) }),
  };
}

const asked = ({ expect: { class: name, rule, ...rest } }: Case): Expected => ({
  ...(name == null ? {} : { class: name }),
  ...(rule == null ? {} : { rule }),
  ...rest,
});

const present = existsSync(folder);
if (!present) console.log(`labelled trajectories skipped: ${folder} does not exist (set HEADWAY_CASES)`);

describe('labelled trajectories', () => {
  const cases = present ? casesIn(folder) : [];
  test.skipIf(!present)('are there', () => expect(cases).not.toHaveLength(0));
  if (cases.length > 0) {
    test.each(cases.map((one) => [one.name, one.why, one] as const))('%s: %s', (_name, _why, labelled) => {
      expect(outcome(labelled)).toEqual(asked(labelled));
    });
  }
});

describe('own trajectories', () => {
  test.each(casesIn(own).map((one) => [one.name, one.why, one] as const))('%s: %s', (_name, _why, labelled) => {
    expect(outcome(labelled)).toEqual(asked(labelled));
  });
});
