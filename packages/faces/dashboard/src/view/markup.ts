/**
 * A small description of an element, made by the views. The server writes it as HTML and the page's script builds it as
 * DOM nodes, so that a row looks the same whoever made it. Text is only ever text on both sides.
 */
export interface Markup {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Child[];
}
export type Child = Markup | string;

/** `null`, `undefined` and `false` leave an attribute out; `true` writes it without a value; numbers become text. */
export type AttributeValue = string | number | boolean | null | undefined;

/** Absent children (`null`, `undefined`, `false`) are left out, lists are flattened. */
export type ChildInput = Child | number | null | undefined | false | readonly ChildInput[];

export function h(
  tag: string,
  attributes: Readonly<Record<string, AttributeValue>> = {},
  ...children: ChildInput[]
): Markup {
  const kept: Record<string, string> = {};
  for (const name in attributes) {
    const value = attributes[name];
    if (value === null || value === undefined || value === false) continue;
    kept[name] = value === true ? '' : String(value);
  }
  const flat: Child[] = [];
  flatten(children, flat);
  return { tag, attributes: kept, children: flat };
}

function flatten(input: readonly ChildInput[], into: Child[]): void {
  for (const child of input) {
    if (child === null || child === undefined || child === false) continue;
    if (typeof child === 'string') into.push(child);
    else if (typeof child === 'number') into.push(String(child));
    else if ('tag' in child) into.push(child);
    else flatten(child, into);
  }
}

/** Text that a reporter wrote: isolated, so that right-to-left marks in it cannot reorder what stands around it. */
export const reported = (text: string, attributes: Readonly<Record<string, AttributeValue>> = {}): Markup =>
  h('bdi', attributes, text);

/** The text of a description, as `textContent` would give it. */
export const textOf = (node: Child): string => (typeof node === 'string' ? node : node.children.map(textOf).join(''));
