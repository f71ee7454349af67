import { defineConfig, variable } from '@headway/runtime';
import { z } from 'zod';
import { LEASE_MARGIN_MS, SLOTS } from './worker.ts';

/** The environment variables of the executor, beside those of access, logging and telemetry. */
export const config = defineConfig(
  z.object({
    /** Address to listen on. */
    HEADWAY_HOST: z.string().default('127.0.0.1'),
    /** Port to listen on; 0 = a free one, which is announced. */
    HEADWAY_PORT: variable.port(4685),
    /** Host names, with or without port, that clients may use beside the loopback ones; with commas between. */
    HEADWAY_PUBLIC_HOSTS: variable.list(),
    HEADWAY_NATS_URL: z.string().min(1),
    HEADWAY_POSTGRES_URL: z.string().min(1),
    /** Effects under way at once. */
    HEADWAY_EXECUTOR_SLOTS: z.coerce.number().int().min(1).max(1_000).default(SLOTS),
    /** How much longer than its attempt a lease is, in milliseconds. */
    HEADWAY_EXECUTOR_LEASE_MARGIN_MS: z.coerce.number().int().min(100).max(600_000).default(LEASE_MARGIN_MS),
    /** File that says which targets effects may reach, and with which credentials; without it there are none. */
    HEADWAY_EFFECT_TARGETS_FILE: z.string().optional(),
    /** For tests: where this process ends or stops itself. */
    HEADWAY_EXECUTOR_FAILPOINTS: z.string().default(''),
  }),
);
