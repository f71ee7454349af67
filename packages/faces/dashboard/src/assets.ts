import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { hash64 } from '@headway/kernel';

/** One file of the page, ready to be served as it is. */
export interface Asset {
  readonly contentType: string;
  readonly body: string;
  readonly cacheControl: string;
}

/** The name holds the content's hash, so a path never serves anything else. */
const FOREVER = 'public, max-age=31536000, immutable';

/** In an order in which each module comes after those that it imports. */
const modules = [
  'view/markup',
  'view/words',
  'view/signals',
  'view/fleet',
  'browser/dom',
  'browser/live',
  'browser/page',
  'browser/fleet-page',
  'browser/work-page',
  'browser/report-page',
  'browser/letters-page',
] as const;

const made = new Map<string, Asset>();

function add(name: string, extension: string, contentType: string, body: string): string {
  const path = `/assets/${name}.${hash64(body)}.${extension}`;
  made.set(path, { contentType, body, cacheControl: FOREVER });
  return path;
}

/**
 * Node says once per process that stripping types by call is experimental, although it runs `.ts` files by the same code
 * without a word. The version of Node is pinned and the page's tests run what comes out, so that line would only worry.
 */
function stripTypes(source: string): string {
  // oxlint-disable-next-line typescript/unbound-method -- put back as it was, never called from here
  const warn = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source, { mode: 'strip' });
  } finally {
    process.emitWarning = warn;
  }
}

/** The modules as a browser runs them: types stripped, and each import naming the served file. */
function addModules(): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const module of modules) {
    const source = readFileSync(new URL(`./${module}.ts`, import.meta.url), 'utf8');
    const plain = stripTypes(source).replace(/\bfrom '([^']+)';/g, (_all, imported: string) => {
      const name = new URL(imported, `file:///${module}.ts`).pathname.slice(1).replace(/\.ts$/, '');
      const path = paths.get(name);
      if (path === undefined) throw new Error(`${module}.ts imports ${imported}, which no browser gets`);
      return `from '${path}';`;
    });
    paths.set(module, add(module.replace('/', '-'), 'js', 'text/javascript; charset=utf-8', plain));
  }
  return paths;
}

const scripts = addModules();
const script = (name: (typeof modules)[number]): string => scripts.get(name) as string;
const text = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

/** Where each page finds its files. `modulePreloads` spares the browser a chain of round trips. */
export const paths = {
  style: add(
    'style',
    'css',
    'text/css; charset=utf-8',
    ['frame', 'fleet', 'work', 'report', 'letters'].map((name) => text(`./style/${name}.css`)).join(''),
  ),
  icon: add('icon', 'svg', 'image/svg+xml', text('./style/icon.svg')),
  fleetScript: script('browser/fleet-page'),
  workScript: script('browser/work-page'),
  reportScript: script('browser/report-page'),
  lettersScript: script('browser/letters-page'),
  modulePreloads: modules.filter((name) => !name.endsWith('-page')).map(script),
} as const;

/** Every file that the pages ask for, by path. Nothing else is needed, from nowhere else. */
export const assets: ReadonlyMap<string, Asset> = made;

/** For the `Content-Security-Policy` header of both pages: own files and own API only, nothing inline. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
