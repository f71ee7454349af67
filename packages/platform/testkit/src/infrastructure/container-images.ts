/** The images that test servers run from where a container engine is at hand, and who may name another. */
const IMAGES = {
  nats: { image: 'nats:2.15.1', variable: 'HEADWAY_TEST_NATS_IMAGE' },
  postgres: { image: 'postgres:18.4', variable: 'HEADWAY_TEST_POSTGRES_IMAGE' },
} as const;

/**
 * The image for a server. Another one must answer to what the official image answers to: `nats-server` options as
 * arguments; `POSTGRES_PASSWORD`, `POSTGRES_INITDB_ARGS` and `postgres` options as arguments.
 */
export function imageFor(server: keyof typeof IMAGES): string {
  const { image, variable } = IMAGES[server];
  const named = process.env[variable];
  return named === undefined || named === '' ? image : named;
}
