/**
 * A reporter's text inside one line of markdown. It cannot end the line, open a block, or become a link, markup or
 * code: what controls, hides or reorders characters becomes a space, and what markdown reads is escaped. Cut at `most`
 * characters before escaping.
 */
export function prose(text: string, most: number): string {
  return cut(flat(text), most)
    .replace(/[\\`*<>[\]|~&]/g, '\\$&')
    .replace(/^(?=[#+=_-])/, '\\')
    .replace(/^(\d{1,9})(?=[.)])/, '$1\\');
}

/** A reporter's name as code in one line of markdown: everything in it stands for itself. */
export const code = (text: string, most: number): string => `\`${cut(flat(text), most).replaceAll('`', "'") || ' '}\``;

const flat = (text: string) => text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();

function cut(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
