import { defineConfig, variable } from '@headway/runtime';
import { z } from 'zod';

/** Connections to Postgres of this process, where nothing else is said. */
const CONNECTIONS = 12;

/** What this service reads from its environment, beside access (see `readAccessSettings`) and logging. */
export const config = defineConfig(
  z.object({
    HEADWAY_HOST: z.string().default('127.0.0.1'),
    HEADWAY_PORT: variable.port(4683),
    HEADWAY_NATS_URL: z.string().min(1),
    /** Where the NATS server's monitoring answers: it tells whether the server syncs before it acknowledges. */
    HEADWAY_NATS_MONITOR_URL: z.url().optional(),
    HEADWAY_POSTGRES_URL: z.string().min(1),
    HEADWAY_POSTGRES_CONNECTIONS: z.coerce.number().int().min(4).max(200).default(CONNECTIONS),
    HEADWAY_PUBLIC_HOSTS: variable.list(),
  }),
);
