import { defineConfig, variable } from '@headway/runtime';
import { z } from 'zod';

/** The classifier's environment. It has no API: HTTP is for health alone. */
export const config = defineConfig(
  z.object({
    HEADWAY_NATS_URL: z.string().min(1),
    /** Where the NATS server's monitoring answers: it tells whether the server syncs before it acknowledges. */
    HEADWAY_NATS_MONITOR_URL: z.url().optional(),
    HEADWAY_POSTGRES_URL: z.string().min(1),
    HEADWAY_HOST: z.string().default('127.0.0.1'),
    HEADWAY_PORT: variable.port(0),
  }),
);
