import type { Child } from '../view/markup.ts';

/**
 * The part of the browser that the page uses, and no more. Stated here so that the rest of the project is not
 * compiled as if `document` existed.
 */
export interface PageElement {
  readonly dataset: Record<string, string | undefined>;
  readonly classList: { add(name: string): void; remove(name: string): void };
  readonly children: ArrayLike<PageElement> & Iterable<PageElement>;
  readonly nextElementSibling: PageElement | null;
  readonly firstElementChild: PageElement | null;
  readonly parentElement: PageElement | null;
  textContent: string | null;
  hidden: boolean;
  disabled: boolean;
  id: string;
  setAttribute(name: string, value: string): void;
  getAttribute(name: string): string | null;
  append(...nodes: (PageElement | string)[]): void;
  insertBefore(node: PageElement, before: PageElement | null): void;
  replaceWith(node: PageElement): void;
  remove(): void;
  focus(options?: { preventScroll?: boolean }): void;
  contains(node: PageElement | null): boolean;
  closest(selector: string): PageElement | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  addEventListener(type: string, listener: (event: { readonly target: PageElement | null }) => void): void;
}

export interface PageDocument extends Omit<PageElement, 'append'> {
  title: string;
  readonly body: PageElement;
  readonly activeElement: PageElement | null;
  createElement(tag: string): PageElement;
}

export interface StreamEvent {
  readonly data: string;
  readonly lastEventId: string;
}

export interface Stream {
  readonly readyState: number;
  close(): void;
  addEventListener(type: string, listener: (event: StreamEvent) => void): void;
}

export interface Browser {
  readonly document: PageDocument;
  readonly navigator: { readonly clipboard?: { writeText(text: string): Promise<void> } };
  readonly location: { readonly href: string; readonly pathname: string; reload(): void };
  readonly EventSource: new (url: string) => Stream;
  readonly DOMParser: new () => { parseFromString(text: string, type: string): PageDocument };
  getSelection(): { selectAllChildren(node: PageElement): void } | null;
}

export const browser = globalThis as unknown as Browser;

/** Builds the nodes of a description. Text becomes text nodes; nothing is ever parsed as HTML. */
export function build(node: Child): PageElement | string {
  return typeof node === 'string' ? node : buildElement(node);
}

export function buildElement(node: Exclude<Child, string>): PageElement {
  const element = browser.document.createElement(node.tag);
  for (const [name, value] of Object.entries(node.attributes)) element.setAttribute(name, value);
  element.append(...node.children.map(build));
  return element;
}

/** The element the page was served with; its absence means that page and script do not belong together. */
export function must(selector: string, within: Pick<PageElement, 'querySelector'> = browser.document): PageElement {
  const found = within.querySelector(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
}

/** Runs a change of the page and gives the focus back to the element of the same key, where the change took it away. */
export function keepingFocus(change: () => void): void {
  const { document } = browser;
  const focused = document.activeElement;
  const key = focused?.dataset.key;
  const work = focused?.closest('[data-work]')?.dataset.work;
  change();
  if (key === undefined || document.activeElement === focused) return;
  for (const candidate of document.querySelectorAll('[data-key]')) {
    if (candidate.dataset.key !== key || candidate.closest('[data-work]')?.dataset.work !== work) continue;
    candidate.focus({ preventScroll: true });
    return;
  }
}
