import type { Files } from './capture.ts';

/** What can be made to fail in the test projects. */
export type Fault =
  | 'one'
  | 'two'
  | 'type'
  | 'range'
  | 'custom'
  | 'item'
  | 'slow'
  | 'snapshot'
  | 'missing'
  | 'syntax'
  | 'hook'
  | 'rejection'
  | 'values';

export interface Style {
  /** Before everything else in each file. */
  readonly head: string;
  readonly describe: boolean;
  readonly test: string;
  readonly beforeEach: string;
  /** An assertion that holds where both are equal. */
  readonly equal: (actual: string, expected: string) => string;
  readonly deepEqual: (actual: string, expected: string) => string;
  readonly snapshot: ((value: string, stored: string) => string) | null;
  readonly parameters: string;
  /** Brings `gone` in from a file that is not there. */
  readonly importGone?: string;
  /** How long the test waits that is to be too slow. */
  readonly slowMs?: number;
  readonly name: (base: string) => string;
}

export interface Project {
  readonly faults: readonly Fault[];
  /** Tests in another order, other values, more lines above. */
  readonly again?: boolean;
}

/** A cart and an item with tests of which those that are named fail. */
export function testProject(style: Style, { faults, again = false }: Project): Files {
  const fails = new Set<Fault>(faults);
  const files: Record<string, string> = {
    [style.name('test/cart')]: cart(style, fails, again),
    [style.name('test/item')]: item(style, fails, again),
  };
  if (fails.has('missing'))
    files[style.name('test/missing')] =
      `${style.head}\n${style.importGone ?? "import { gone } from '../src/gone.js';"}\n${one(style, 'is there', style.equal('gone', '1'))}`;
  if (fails.has('syntax')) files[style.name('test/syntax')] = `${style.head}\n${one(style, 'parses', 'const = 3;')}`;
  if (fails.has('rejection'))
    files[style.name('test/rejection')] =
      `${style.head}\n${one(style, 'starts and forgets', `Promise.reject(new RangeError('nobody waits for ' + ${value(again)})); await new Promise((go) => setTimeout(go, 50));`)}`;
  return files;
}

const value = (again: boolean): string => (again ? '77' : '41');

function one(style: Style, name: string, body: string): string {
  return `${style.test}(${JSON.stringify(name)}, async (${style.parameters}) => { ${body} });\n`;
}

function cart(style: Style, fails: ReadonlySet<Fault>, again: boolean): string {
  const when = (fault: Fault, bad: string, good = style.equal('1', '1')) => (fails.has(fault) ? bad : good);
  const tests = [
    one(style, 'adds 1 item', when('one', style.equal(value(again), '4'))),
    one(style, 'adds 2 items', when('two', style.equal(value(again), '4'))),
    one(
      style,
      'reads the owner',
      fails.has('range')
        ? `throw new RangeError('too far: ' + ${value(again)});`
        : when('type', 'const cart = { owner: null }; cart.owner.name.toString();'),
    ),
    one(
      style,
      'refuses "bad" cards > always',
      when(
        'custom',
        `class CardError extends Error { name = 'CardError'; } throw new CardError('card ${value(again)} is bad\\nError: second line');`,
      ),
    ),
    one(
      style,
      'an error that passes: Error: FAILED',
      `console.log('Error: printed by a test that passes'); console.error('FAIL test/other.test.js'); ${style.equal('1', '1')}`,
    ),
  ];
  if (fails.has('values'))
    tests.push(
      one(
        style,
        'lists all',
        style.deepEqual(`{ id: ${value(again)}, name: 'Error: x', list: [1, 2] }`, `{ id: 1, name: 'y', list: [1] }`),
      ),
    );
  if (fails.has('slow'))
    tests.push(
      one(style, 'waits for the server', `await new Promise((go) => setTimeout(go, ${style.slowMs ?? 900}));`),
    );
  if (fails.has('snapshot') && style.snapshot !== null)
    tests.push(one(style, 'renders', style.snapshot(`'new ${value(again)}'`, 'old')));
  const hook = fails.has('hook')
    ? `${style.beforeEach}(async () => { throw new TypeError('no fixture ' + ${value(again)}); });\n`
    : '';
  const ordered = again ? tests.toReversed() : tests;
  const inserted = again ? '// More lines than before.\n\n\n\nconst unused = 1;\n' : '';
  if (!style.describe) return `${style.head}\n${inserted}${hook}${ordered.join('\n')}`;
  return `${style.head}\n${inserted}describe('cart', () => {\n${inserted}describe('with a discount', () => {\n${hook}${ordered.join('\n')}});\n});\n`;
}

function item(style: Style, fails: ReadonlySet<Fault>, again: boolean): string {
  const tests = [
    one(style, 'adds 1 item', fails.has('item') ? style.equal(value(again), '5') : style.equal('1', '1')),
    one(style, 'costs', style.equal('1', '1')),
  ];
  const ordered = (again ? tests.toReversed() : tests).join('\n');
  return style.describe
    ? `${style.head}\ndescribe('cart', () => {\ndescribe('with a discount', () => {\n${ordered}});\n});\n`
    : `${style.head}\n${ordered}`;
}
