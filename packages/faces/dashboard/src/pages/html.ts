import type { Child } from '../view/markup.ts';

const voids = new Set(['link', 'meta', 'br', 'hr', 'input', 'img']);
const special = /[&<>"'\r]/;
const everySpecial = /[&<>"'\r]/g;
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A bare carriage return would be read as a line feed.
  '\r': '&#13;',
};

export const escapeHtml = (text: string): string =>
  special.test(text) ? text.replace(everySpecial, (sign) => escapes[sign] as string) : text;

/** The HTML of a description. All text and all attribute values are escaped. */
export function toHtml(node: Child): string {
  if (typeof node === 'string') return escapeHtml(node);
  let html = `<${node.tag}`;
  for (const name in node.attributes) html += ` ${name}="${escapeHtml(node.attributes[name] as string)}"`;
  html += '>';
  if (voids.has(node.tag)) return html;
  // A parser drops the first line break of a `pre`.
  if (node.tag === 'pre') html += '\n';
  for (const child of node.children) html += toHtml(child);
  return `${html}</${node.tag}>`;
}
