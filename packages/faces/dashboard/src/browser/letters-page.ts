import { browser, must, type PageElement } from './dom.ts';
import { keepTimesCurrent } from './page.ts';

/** Milliseconds after an act before the page is read again: by then the projection has done what was asked. */
const DONE = 600;

interface Answer {
  readonly detail?: string;
  readonly position?: string;
}

const textIn = (selector: string): string => (must(selector) as PageElement & { readonly value: string }).value.trim();

function say(letter: PageElement, text: string): void {
  must('output', letter).textContent = text;
}

/** Asks for a retry or a drop. What came of it shows when the page is read again. */
async function act(letter: PageElement, verb: string): Promise<void> {
  const [token, why] = [textIn('#token'), textIn('#why')];
  if (token === '' || why === '') {
    say(letter, 'Fill in the operator token and the reason first.');
    must(token === '' ? '#token' : '#why').focus();
    return;
  }
  say(letter, 'Asking …');
  const id = encodeURIComponent(letter.dataset.letter ?? '');
  try {
    const answer = await fetch(`/v1/deadletters/${id}/${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ why }),
    });
    const { detail, position } = (await answer.json()) as Answer;
    if (!answer.ok) {
      say(letter, detail ?? `The server answered ${answer.status}.`);
      return;
    }
    await show(letter, id, position ?? '');
  } catch {
    say(letter, 'The server could not be reached. Try again.');
  }
}

async function show(letter: PageElement, id: string, position: string): Promise<void> {
  const answer = await fetch(`/v1/deadletters/${id}?after=${encodeURIComponent(position)}`);
  const view = (await answer.json()) as { readonly state?: string; readonly error?: string };
  if (view.state === 'open') say(letter, `It failed again: ${view.error ?? ''}`);
  else {
    say(letter, view.state === 'dropped' ? 'Dropped.' : 'Handled.');
    setTimeout(() => letter.remove(), DONE);
  }
}

keepTimesCurrent();
for (const button of browser.document.querySelectorAll('button[data-act]')) button.disabled = false;
browser.document.addEventListener('click', ({ target }) => {
  const button = target?.closest('button[data-act]') ?? null;
  const letter = button?.closest('[data-letter]') ?? null;
  if (button !== null && letter !== null) void act(letter, button.dataset.act ?? '');
});
