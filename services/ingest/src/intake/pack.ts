import { type EvidenceEvent, limits, subjects } from '@headway/contracts';
import { digest } from '@headway/kernel';

/** An event that goes into the log, with its place in the request. */
export interface Entry {
  readonly work: string;
  readonly event: EvidenceEvent;
  readonly key: string;
  readonly content: string;
}

/** One message for the log: facts of one work, in order. */
export interface Commit {
  readonly subject: string;
  /** The same events in the same grouping give the same id, so that the server notices a repeated request. */
  readonly messageId: string;
  readonly payload: Uint8Array;
  readonly entries: readonly Entry[];
}

/** What `{"v":1,"events":[],"contents":[]}` and the digest and commas of one event add at most. */
const ENVELOPE_BYTES = 64;
const ENTRY_BYTES = 80;

/**
 * Packs entries into commits by work: for each work a list of commits that have to be appended one after the other.
 * The order of a work's events is kept. Pure.
 */
export function pack(tenant: string, entries: readonly Entry[]): Commit[][] {
  const works = new Map<string, Packing>();
  for (const entry of entries) {
    let packing = works.get(entry.work);
    if (packing === undefined) {
      packing = new Packing(subjects.evidence(tenant, entry.work));
      works.set(entry.work, packing);
    }
    packing.add(entry);
  }
  return [...works.values()].map((packing) => packing.finish());
}

class Packing {
  readonly #subject: string;
  readonly #commits: Commit[] = [];
  #entries: Entry[] = [];
  #texts: string[] = [];
  #bytes = ENVELOPE_BYTES;

  constructor(subject: string) {
    this.#subject = subject;
  }

  add(entry: Entry): void {
    const text = JSON.stringify(entry.event);
    const bytes = Buffer.byteLength(text) + ENTRY_BYTES;
    if (this.#entries.length === limits.commitEvents || this.#bytes + bytes > limits.commitBytes) this.#close();
    this.#entries.push(entry);
    this.#texts.push(text);
    this.#bytes += bytes;
  }

  finish(): Commit[] {
    this.#close();
    return this.#commits;
  }

  #close(): void {
    if (this.#entries.length === 0) return;
    const contents = this.#entries.map(({ content }) => content);
    this.#commits.push({
      subject: this.#subject,
      messageId: digest('commit', ...this.#entries.flatMap(({ key, content }) => [key, content])),
      // An EvidenceCommit, put together from the texts at hand: each event is turned into JSON once.
      payload: Buffer.from(
        `{"v":1,"events":[${this.#texts.join(',')}],"contents":${JSON.stringify(contents)}}`,
        'utf8',
      ),
      entries: this.#entries,
    });
    this.#entries = [];
    this.#texts = [];
    this.#bytes = ENVELOPE_BYTES;
  }
}
