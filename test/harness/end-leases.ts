import pg from 'pg';

/** What time does: the leases of a process that was killed end, and another may take over. */
export async function endLeases(postgresUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`update claims.claim set lease_until = clock_timestamp() - interval '1 second'`);
  await client.end();
}
