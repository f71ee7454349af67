import { defineConfig, variable } from '@headway/runtime';
import { z } from 'zod';
import { INDEX_ENTRIES } from './identity/known.ts';

/** The environment variables of ingest, beside those of access, logging and telemetry. */
export const config = defineConfig(
  z.object({
    /** Address to listen on. */
    HEADWAY_HOST: z.string().default('127.0.0.1'),
    /** Port to listen on; 0 = a free one, which is announced. */
    HEADWAY_PORT: variable.port(4681),
    /** Host names, with or without port, that clients may use beside the loopback ones; with commas between. */
    HEADWAY_PUBLIC_HOSTS: variable.list(),
    HEADWAY_NATS_URL: z.string().min(1),
    HEADWAY_POSTGRES_URL: z.string().min(1),
    /** A file of rules for reading output (see the guide on signatures); absent = none. */
    HEADWAY_SIGNATURE_RULES: z.string().optional(),
    /** Seconds between ticks of the monitor; 0 = this process posts none. */
    HEADWAY_TICK_SECONDS: z.coerce.number().min(0).max(86_400).default(60),
    /** Identities kept in memory between the archive and the end of the log. */
    HEADWAY_IDENTITY_ENTRIES: z.coerce.number().int().min(1_000).max(10_000_000).default(INDEX_ENTRIES),
  }),
);
