import {
  contentDigest,
  type EventVerdict,
  type EvidenceEvent,
  type EvidenceRefused,
  formatPosition,
  identityKey,
  problem,
  subjects,
} from '@headway/contracts';
import { digest } from '@headway/kernel';
import { type AppendParts, appendWork, type Headers, logAway, storeAway } from './append-work.ts';
import type { Claim, InFlight, Outcome } from './identity/in-flight.ts';
import { enrich } from './intake/enrich.ts';
import type { Item } from './intake/forms.ts';
import type { Entry } from './intake/pack.ts';
import { OWN_SOURCE, type RefusedReport, type Report, readReport } from './intake/report.ts';
import type { ReadAttempt } from './ports.ts';

export interface AcceptOptions extends AppendParts {
  readonly inFlight: InFlight;
  readonly readAttempt: ReadAttempt;
}

/** Takes the events of one request: one verdict each, in their order. */
export type Accept = (tenant: string, items: readonly Item[], headers: Headers) => Promise<EventVerdict[]>;

/**
 * Evidence into the log, each identity once for ever: read, settle the identity, enrich, append by work. The
 * verdict of one event does not depend on the others of its request, but the order within a work is kept: after an
 * append that failed nothing of that work follows.
 */
export function createAccept(options: AcceptOptions): Accept {
  return async (tenant, items, headers) => {
    const reports = items.map((item) => readReport(tenant, item));
    const outcomes = await decide(
      options,
      tenant,
      reports.flatMap((read) => (read.ok ? [read.value] : [])),
      headers,
    );
    await recordConflicts(options, tenant, outcomes, headers);
    return reports.map((read) => {
      if (!read.ok) return refusal(read.failure);
      const decided = outcomes.get(read.value) as Decided;
      return verdictOf(read.value, decided);
    });
  };
}

/** How it ended for one report: `first` = this report is the one that stands by this request. */
interface Decided {
  outcome: Outcome;
  readonly first: boolean;
}

/**
 * In rounds: what follows an event of its work that another request has under way waits for how that ends, and is not
 * taken where it fails in a way that may pass. Between the rounds nothing is claimed, so that nobody waits in a circle.
 */
async function decide(
  options: AcceptOptions,
  tenant: string,
  reports: readonly Report[],
  headers: Headers,
): Promise<Map<Report, Decided>> {
  const decided = new Map<Report, Decided>();
  for (let left = reports; left.length > 0; ) {
    const later = await decideRound(options, tenant, left, headers, decided);
    const held = new Map<string, Outcome>();
    for (const report of left) {
      const outcome = decided.get(report)?.outcome;
      if (outcome?.kind === 'failed' && outcome.problem.status === 503) held.set(report.work, outcome);
    }
    left = later.filter((report) => {
      const outcome = held.get(report.work);
      if (outcome !== undefined) decided.set(report, { outcome, first: true });
      return outcome === undefined;
    });
  }
  return decided;
}

/** Gives the reports that have to wait for the next round. */
async function decideRound(
  options: AcceptOptions,
  tenant: string,
  reports: readonly Report[],
  headers: Headers,
  decided: Map<Report, Decided>,
): Promise<readonly Report[]> {
  const claimed = new Map<Report, Claim>();
  const own = new Set<string>();
  const waiting = new Map<Report, Promise<Outcome>>();
  const elsewhere = new Set<string>();
  const later: Report[] = [];
  const marks = new Map<string, number>();
  // All claims in one go, without waiting in between; so each work's mark is of the moment its identities were looked up.
  for (const report of reports) {
    if (!marks.has(report.work)) marks.set(report.work, markOf(options, tenant, report.work));
    if (elsewhere.has(report.work)) {
      later.push(report);
      continue;
    }
    const standing = options.recent.find(report.key);
    if (standing !== undefined) {
      decided.set(report, { outcome: { kind: 'stands', standing, fresh: false }, first: false });
      continue;
    }
    const attempt = options.inFlight.claim(report.key, report.content);
    if ('claim' in attempt) {
      claimed.set(report, attempt.claim);
      own.add(report.key);
      continue;
    }
    waiting.set(report, attempt.other);
    if (!own.has(report.key)) elsewhere.add(report.work);
  }
  const settle = (report: Report, outcome: Outcome) => {
    const claim = claimed.get(report);
    if (claim === undefined || decided.has(report)) return;
    decided.set(report, { outcome, first: true });
    claim.settle(outcome);
  };
  try {
    if (claimed.size > 0) await decideClaimed(options, tenant, [...claimed.keys()], { marks, settle, headers });
  } finally {
    // Whatever broke: nobody may wait for ever for a claim of ours.
    for (const report of claimed.keys()) settle(report, { kind: 'failed', problem: logAway() });
  }
  for (const [report, other] of waiting) decided.set(report, { outcome: await other, first: false });
  return later;
}

const markOf = ({ heads }: AcceptOptions, tenant: string, work: string) =>
  heads.of(subjects.evidence(tenant, work)).mark;

interface Deciding {
  /** By work: its head's mark when its identities were looked up. */
  readonly marks: ReadonlyMap<string, number>;
  readonly settle: (report: Report, outcome: Outcome) => void;
  readonly headers: Headers;
}

async function decideClaimed(
  options: AcceptOptions,
  tenant: string,
  reports: readonly Report[],
  { marks, settle, headers }: Deciding,
): Promise<void> {
  const { archive, recent, doubts } = options;
  const keys = reports.map(({ key }) => key);
  const inDoubt = await doubts.settle(keys);
  let archived: Awaited<ReturnType<typeof archive.lookup>>;
  try {
    archived = await archive.lookup(keys);
  } catch (error) {
    options.logger.warn({ err: error }, 'the archive cannot be asked for known identities');
    for (const report of reports) settle(report, { kind: 'failed', problem: storeAway() });
    return;
  }
  const fresh: { report: Report; entry: Entry }[] = [];
  for (const report of reports) {
    const known = recent.find(report.key);
    const old = archived.get(report.key);
    if (known !== undefined) settle(report, { kind: 'stands', standing: known, fresh: false });
    else if (old !== undefined)
      settle(report, { kind: 'stands', standing: { content: old.content, position: null }, fresh: false });
    else if (inDoubt.has(report.key)) settle(report, { kind: 'failed', problem: logAway() });
    else {
      const { work, key, content } = report;
      const event = tryEnrich(options, report);
      if (event !== null) fresh.push({ report, entry: { work, key, content, event } });
      else
        settle(report, { kind: 'failed', problem: problem('internal', 'The event broke the reading of its output.') });
    }
  }
  const byEntry = new Map(fresh.map(({ report, entry }) => [entry, report]));
  const settleEntry = (entry: Entry, outcome: Outcome) => settle(byEntry.get(entry) as Report, outcome);
  const appended = await Promise.allSettled(
    [...Map.groupBy(byEntry.keys(), ({ work }) => work)].map(([work, entries]) =>
      appendWork(options, { tenant, work, entries, mark: marks.get(work) ?? 0 }, settleEntry, headers),
    ),
  );
  for (const one of appended) if (one.status === 'rejected') throw one.reason;
}

/** One event that breaks its reading must not take the others of its request with it. */
function tryEnrich({ readAttempt, logger }: AcceptOptions, report: Report): EvidenceEvent | null {
  try {
    return enrich(report.event, readAttempt);
  } catch (error) {
    logger.error({ err: error, source: report.event.source, id: report.event.id }, 'an event could not be enriched');
    return null;
  }
}

const conflicts = (report: Report, { outcome }: Decided): boolean =>
  outcome.kind === 'stands' && outcome.standing.content !== report.content;

/**
 * A conflict is a fact about the work: it goes into its evidence, once for each content that was offered. Where that
 * fails the verdict becomes one that asks for another try, so that the fact is not lost.
 */
async function recordConflicts(
  options: AcceptOptions,
  tenant: string,
  outcomes: Map<Report, Decided>,
  headers: Headers,
): Promise<void> {
  const facts = new Map<Report, Report>();
  for (const [report, decided] of outcomes)
    if (conflicts(report, decided) && decided.outcome.kind === 'stands')
      facts.set(report, conflictFact(tenant, report, decided.outcome.standing.content));
  if (facts.size === 0) return;
  const recorded = await decide(options, tenant, [...facts.values()], headers);
  for (const [report, fact] of facts) {
    const { outcome } = recorded.get(fact) as Decided;
    if (outcome.kind === 'failed') (outcomes.get(report) as Decided).outcome = outcome;
  }
}

function conflictFact(tenant: string, report: Report, standing: string): Report {
  const { source, id, type } = report.event;
  const event: EvidenceRefused = {
    specversion: '1.0',
    id: digest('refused', report.key, report.content),
    source: OWN_SOURCE,
    subject: report.work,
    type: 'headway.evidence.refused',
    data: { reason: 'conflict', refused: { source, id, type }, standing, offered: report.content },
  };
  return { event, work: report.work, key: identityKey(tenant, event), content: contentDigest(event) };
}

function verdictOf(report: Report, decided: Decided): EventVerdict {
  const { id, source } = report.event;
  const { outcome, first } = decided;
  if (outcome.kind === 'failed') return { verdict: 'refused', id, source, problem: outcome.problem };
  if (conflicts(report, decided))
    return {
      verdict: 'refused',
      id,
      source,
      problem: problem(
        'identity_conflict',
        'Another event has this source and id. What came first stands; give a new fact a new id.',
        '/id',
      ),
    };
  const { position } = outcome.standing;
  if (first && outcome.fresh && position !== null)
    return { verdict: 'accepted', id, source, position: formatPosition(position) };
  return { verdict: 'duplicate', id, source, position: position === null ? null : formatPosition(position) };
}

const refusal = ({ id, source, problem: found }: RefusedReport): EventVerdict => ({
  verdict: 'refused',
  id,
  source,
  problem: found,
});
