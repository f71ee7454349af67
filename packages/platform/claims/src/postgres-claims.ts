import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { type Claim, type Claims, LISTED_CLAIMS, type ListedClaim } from './claims.ts';

interface Row {
  readonly resource: string;
  /** `bigint` arrives as text. */
  readonly epoch: string;
  readonly holder: string;
  readonly waiting: boolean;
}

/** Applied in this order, each safe to run again. */
const SCHEMA = ['001-claims.sql', '002-floor-and-waiting.sql'];

const CONNECTIONS = 2;
const STATEMENT_MILLISECONDS = 10_000;

const shown = (row: Row): Claim => ({ resource: row.resource, epoch: Number(row.epoch), holder: row.holder });

/** The claim port on Postgres. Every rule stands in the SQL functions of `schema/`; this file only calls them. */
export function connectPostgresClaims(url: string): Claims {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS, statement_timeout: STATEMENT_MILLISECONDS });
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
  pool.on('error', () => {});
  const call = async (text: string, values: unknown[]) => (await pool.query<Row>(text, values)).rows.map(shown);
  const byHolder = (claims: readonly Claim[]) => {
    const groups = new Map<string, Claim[]>();
    for (const claim of claims) groups.set(claim.holder, [...(groups.get(claim.holder) ?? []), claim]);
    return groups;
  };
  const forEachHolder = async (text: string, claims: readonly Claim[], ...more: unknown[]) => {
    const answers: Claim[] = [];
    for (const [holder, own] of byHolder(claims)) {
      const resources = own.map((claim) => claim.resource);
      const epochs = own.map((claim) => claim.epoch);
      answers.push(...(await call(text, [resources, epochs, holder, ...more])));
    }
    return answers;
  };
  return {
    acquire: (resources, holder, leaseSeconds) =>
      call('select * from claims.acquire($1, $2, make_interval(secs => $3))', [
        [...new Set(resources)],
        holder,
        leaseSeconds,
      ]),
    renew: (claims, leaseSeconds) =>
      forEachHolder('select * from claims.renew($1, $2, $3, make_interval(secs => $4))', claims, leaseSeconds),
    release: (claims) => forEachHolder('select * from claims.release($1, $2, $3)', claims),
    wait: (claims, reservedSeconds) =>
      forEachHolder('select * from claims.wait($1, $2, $3, make_interval(secs => $4))', claims, reservedSeconds),
    list: async (prefix, after = '') => {
      const { rows } = await pool.query<Row>(
        `select * from claims.claim
         where starts_with(resource, $1) and resource > $2 collate "C" and lease_until > clock_timestamp()
         order by resource collate "C" limit ${LISTED_CLAIMS}`,
        [prefix, after],
      );
      return rows.map((row): ListedClaim => ({ ...shown(row), waiting: row.waiting }));
    },
    raiseFloor: async (epoch) => {
      await pool.query('select claims.raise_floor($1)', [epoch]);
    },
    close: () => pool.end(),
  };
}

/** Creates or updates the schema. Safe to run again, and by several at once. */
export async function migrateClaims(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const files = SCHEMA.map((name) => readFile(new URL(`./schema/${name}`, import.meta.url), 'utf8'));
    const schema = (await Promise.all(files)).join('\n');
    await client.query(`begin; select pg_advisory_xact_lock(hashtext('headway/claims')); ${schema}; commit;`);
  } finally {
    await client.end();
  }
}
