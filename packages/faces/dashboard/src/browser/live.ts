import { browser, must, type Stream, type StreamEvent } from './dom.ts';

/** Milliseconds before a stream that the browser gave up on is opened again; doubles up to {@link LONGEST_WAIT}. */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
/** `EventSource.CLOSED`: the server answered with an error, so the browser does not try again by itself. */
const CLOSED = 2;

export interface LiveHandlers {
  readonly work: (data: unknown, change: number) => void;
  readonly signal: (data: unknown, change: number) => void;
}

/**
 * Follows `/v1/stream` from a change on, for as long as the page is open. The browser resumes a dropped stream by
 * `Last-Event-ID`; where it gives up (an error answer, a proxy in between), a new one is opened from the last change
 * seen. `reset` from the server says that the changes start anew: the page is loaded again.
 */
export function followStream(since: number, handlers: LiveHandlers): void {
  let last = since;
  let wait = FIRST_WAIT;

  const receive = (handle: (data: unknown, change: number) => void) => (event: StreamEvent) => {
    const change = Number(event.lastEventId);
    if (Number.isSafeInteger(change) && change > last) last = change;
    try {
      handle(JSON.parse(event.data), change);
    } catch (error) {
      console.error('an event of the stream could not be shown', error);
    }
  };

  const open = (): void => {
    const stream: Stream = new browser.EventSource(`/v1/stream?since=${last}`);
    stream.addEventListener('open', () => {
      wait = FIRST_WAIT;
      showConnection('live');
    });
    stream.addEventListener('error', () => {
      showConnection('reconnecting');
      if (stream.readyState !== CLOSED) return;
      stream.close();
      setTimeout(open, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    });
    stream.addEventListener('work', receive(handlers.work));
    stream.addEventListener('signal', receive(handlers.signal));
    stream.addEventListener('reset', () => {
      stream.close();
      browser.location.reload();
    });
  };
  open();
}

const words = { live: 'Live', reconnecting: 'Reconnecting…' } as const;

function showConnection(state: keyof typeof words): void {
  const shown = must('#connection');
  if (shown.dataset.state === state) return;
  shown.dataset.state = state;
  must('[data-text]', shown).textContent = words[state];
}

/** Announcements read out at once; a burst beyond it is counted instead of read. */
const READ_OUT = 3;
let announcements: string[] = [];
let announcing: ReturnType<typeof setTimeout> | null = null;

/** Says a change to screen readers, together with what else changes within a second. */
export function announce(text: string): void {
  announcements.push(text);
  if (announcing !== null) return;
  announcing = setTimeout(() => {
    const rest = announcements.length - READ_OUT;
    must('#announcements').textContent = [
      ...announcements.slice(0, READ_OUT),
      ...(rest > 0 ? [`and ${rest} more changes`] : []),
    ].join('. ');
    announcements = [];
    announcing = null;
  }, 1_000);
}
