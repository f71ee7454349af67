import pg from 'pg';

const CONNECT_WITHIN_MS = 5_000;

/** Runs one statement on a connection of its own. */
export async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_WITHIN_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

let made = 0;

/** A new empty database on the server of `admin`; answers with its URL. */
export async function createDatabaseAt(admin: string): Promise<string> {
  made += 1;
  const name = `headway_test_${process.pid}_${Date.now().toString(36)}_${made}`;
  await query(admin, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.toString();
}

export async function versionAt(admin: string): Promise<string> {
  const [row] = await query<{ server_version: string }>(admin, 'show server_version');
  return row?.server_version ?? 'unknown';
}
