import { defineConfig, variable } from '@headway/runtime';
import { z } from 'zod';

/** The classifier's environment. It has no API: HTTP is for health alone. */
export const config = defineConfig(
  z.object({
    HEADWAY_NATS_URL: z.string().min(1),
    HEADWAY_POSTGRES_URL: z.string().min(1),
    HEADWAY_HOST: z.string().default('127.0.0.1'),
    HEADWAY_PORT: variable.port(0),
  }),
);
