import { type KyselyPlugin, OperationNodeTransformer, type RawNode } from 'kysely';

/** The projection that stands in these tables. */
export const FLEET = 'fleet';

/**
 * The tables that a rebuild makes anew. Everything in them follows from the archive, the identities and the code; a table
 * with anything else does not belong here.
 */
export const GENERATION_TABLES = [
  'works',
  'timeline',
  'signals',
  'signal_members',
  'signal_coverage',
  'signal_recipients',
  'usage_spans',
  'policies',
  'holds',
  'waiting',
] as const;

/** Of these, those with a `change` that followers of the stream resume from, and their keys. */
export const CHANGING: readonly { readonly table: string; readonly key: readonly string[] }[] = [
  { table: 'works', key: ['tenant', 'work'] },
  { table: 'signals', key: ['tenant', 'signal'] },
];

/** Those that are only appended to: their indexes are made when they are full. */
export const APPENDED: readonly string[] = ['timeline', 'usage_spans'];

/** Where the generation that is being built stands until it takes its place, and where the one before it goes. */
export const NEXT_SCHEMA = 'headway_next';
export const OLD_SCHEMA = 'headway_old';

const ofGeneration = new RegExp(`\\bheadway\\.(${GENERATION_TABLES.join('|')})\\b`, 'g');

class IntoNext extends OperationNodeTransformer {
  protected override transformRaw(node: RawNode, ...more: never[]): RawNode {
    const raw = super.transformRaw(node, ...more);
    return {
      ...raw,
      sqlFragments: raw.sqlFragments.map((text) => text.replaceAll(ofGeneration, `${NEXT_SCHEMA}.$1`)),
    };
  }
}

/** Turns every statement about a table of the living generation into the same one about the next. */
export function intoNextGeneration(): KyselyPlugin {
  const transformer = new IntoNext();
  return {
    transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
    transformResult: async ({ result }) => result,
  };
}
