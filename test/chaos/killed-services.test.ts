import { type EvidenceCommit, parseSubject, STREAMS } from '@headway/contracts';
import { openReadModel } from '@headway/readmodel';
import { createClassification } from '@headway/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiOf } from '../harness/api.ts';
import { postUntilAnswered } from '../harness/post-until-answered.ts';
import { type Services, serviceNames, startServices } from '../harness/services.ts';

// The short form of the long run: fewer events, the same kills.
const WORKS = Number(process.env.HEADWAY_CHAOS_WORKS ?? 200);
const EVENTS = Number(process.env.HEADWAY_CHAOS_EVENTS ?? 10_000);
