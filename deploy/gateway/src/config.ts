import { defineConfig, variable } from '@headway/runtime';
import { z } from 'zod';

/** The environment variables of the gateway, beside those of logging and telemetry. */
export const config = defineConfig(
  z.object({
    HEADWAY_HOST: z.string().default('127.0.0.1'),
    HEADWAY_PORT: variable.port(4680),
    /** The port that every service listens on, at the host of its name. */
    HEADWAY_SERVICE_PORT: variable.port(4680),
  }),
);
