import type { Child } from '../view/markup.ts';

const voids = new Set(['link', 'meta', 'br', 'hr', 'input', 'img']);
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\r': '&#13;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"'\r]/g, (sign) => escapes[sign] as string);

/** The HTML of a description. A bare carriage return would be read as a line feed. All text and all attribute values are escaped. */
export function toHtml(node: Child): string {
  if (typeof node === 'string') return escapeHtml(node);
  const attributes = Object.entries(node.attributes)
    .map(([name, value]) => ` ${name}="${escapeHtml(value)}"`)
    .join('');
  if (voids.has(node.tag)) return `<${node.tag}${attributes}>`;
  // A parser drops the first line break of these two.
  const kept = node.tag === 'pre' || node.tag === 'textarea' ? '\n' : '';
  return `<${node.tag}${attributes}>${kept}${node.children.map(toHtml).join('')}</${node.tag}>`;
}
