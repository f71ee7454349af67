import { shortPath, slashed } from './mask.ts';
import type { Paths } from './readers/reader.ts';

const MOST_ROOTS = 16;
const placeAtEnd = /(?::\d{1,9}){1,2}$|\(\d{1,9}(?:,\d{1,9})?\)$/;

/** Paths below the folders that are known to be roots, see the contract. */
export function createPaths(known: readonly string[] = []): Paths {
  const roots: string[] = [];
  const learn = (folder: string): void => {
    const root = slashed(folder).replace(/\/{1,8}$/, '');
    if (!isAbsolute(root) || root.length < 2 || roots.includes(root) || roots.length >= MOST_ROOTS) return;
    roots.push(root);
    roots.sort((a, b) => b.length - a.length);
  };
  for (const folder of known) learn(folder);
  return {
    root: learn,
    short(path) {
      const plain = slashed(path.replace(placeAtEnd, ''));
      if (!isAbsolute(plain)) return plain.replace(/^(?:\.\/)+/, '');
      const root = roots.find((folder) => plain.startsWith(`${folder}/`));
      return root === undefined ? shortPath(plain) : plain.slice(root.length + 1);
    },
  };
}

const isAbsolute = (path: string): boolean => path.startsWith('/') || /^[A-Za-z]:\//.test(path);
