import type { Files, Run } from './capture.ts';

/** Compilers, linters and formatters: what each is run on and how. */
interface Checker {
  readonly packages: Readonly<Record<string, string>>;
  readonly runs: readonly Run[];
}

/** What is wrong in a project; each tool is shown those that it knows. */
type Sets = Readonly<Record<string, Files>>;
type Variants = Readonly<Record<string, string | { command: string; env?: Record<string, string> }>>;

const colour = { FORCE_COLOR: '1' };
const lower = (files: Files, comment: (text: string) => string): Files =>
  Object.fromEntries(
    Object.entries(files)
      .toReversed()
      .map(([path, text]) => [
        path,
        path.startsWith('src/') && path !== 'src/broken.js' ? `${comment('more lines than before')}\n\n${text}` : text,
      ]),
  );

const slashes = (text: string) => `// ${text}`;

function checker(
  packages: Record<string, string>,
  settings: Files,
  sets: Sets,
  command: string,
  variants: Variants,
  comment = slashes,
  /** Warnings fail the run. */
  tooMany: Readonly<Record<string, string>> = {},
): Checker {
  const runs: Run[] = [];
  for (const [variant, changed] of Object.entries(tooMany)) {
    const files = { ...settings, 'src/cart.js': "console.log('Error: printed');\n" };
    runs.push({ set: 'warnings', variant, files, command: changed });
  }
  for (const [set, files] of Object.entries(sets)) {
    runs.push({ set, variant: 'base', files: { ...settings, ...files }, command });
    runs.push({ set, variant: 'again', files: lower({ ...settings, ...files }, comment), command });
    for (const [variant, changed] of Object.entries(variants)) {
      if (set !== 'many' && set !== 'fewer') continue;
      const how = typeof changed === 'string' ? { command: changed } : changed;
      runs.push({ set, variant, files: { ...settings, ...files }, ...how });
    }
  }
  return { packages, runs };
}

const manifest = (lint: string): Files => ({
  'package.json': `${JSON.stringify({ name: 'shop', version: '1.0.0', type: 'module', scripts: { lint } }, null, 2)}\n`,
});

const cart = (symbol: string, more = '') =>
  `export function total(list) {\n  console.log('Error: printed');\n  return list.length + ${symbol};\n}\n${more}`;
const unused = (name: string) => `export function ship() {\n  const ${name} = 1;\n  return 2;\n}\n`;

const scripts: Sets = {
  many: { 'src/cart.js': cart('price1', 'debugger;\n'), 'src/item.js': unused('weight') },
  fewer: { 'src/cart.js': cart('price1'), 'src/item.js': unused('weight') },
  'other-number': { 'src/cart.js': cart('price2', 'debugger;\n'), 'src/item.js': unused('weight') },
  'other-file': { 'src/cart.js': cart('price1', 'debugger;\n'), 'src/order.js': unused('weight') },
  'other-rule': { 'src/cart.js': cart('price1', 'if (total == 1) total();\n'), 'src/item.js': unused('weight') },
  twice: { 'src/cart.js': cart('price1 - price1', 'debugger;\ndebugger;\n'), 'src/item.js': unused('weight') },
  syntax: { 'src/broken.js': 'export const = 3;\n', 'src/item.js': unused('weight') },
};

const eslintConfig = `export default [{ files: ['**/*.js'], languageOptions: { globals: { console: 'readonly' } }, rules: {
  'no-undef': 'error', 'no-unused-vars': 'error', 'no-debugger': 'error', 'eqeqeq': 'error', 'no-console': 'warn' } }];\n`;
const eslint = (packages: Record<string, string>) =>
  checker(
    packages,
    { ...manifest('eslint .'), 'eslint.config.js': eslintConfig },
    scripts,
    'eslint .',
    {
      colour: { command: 'eslint --color .', env: colour },
      quiet: 'eslint --quiet .',
      relative: 'cd src && eslint .',
      unix: 'eslint -f unix .',
      compact: 'eslint -f compact .',
      json: 'eslint -f json .',
      npm: 'npm run lint',
    },
    slashes,
    {
      base: 'eslint --max-warnings 0 .',
      unix: 'eslint --max-warnings 0 -f unix .',
      npm: 'npm run lint -- --max-warnings 0',
    },
  );

const biome = (packages: Record<string, string>, config: string) =>
  checker(
    packages,
    { ...manifest('biome lint src'), 'biome.json': config },
    scripts,
    'biome lint src',
    {
      colour: { command: 'biome lint --colors=force src', env: colour },
      quiet: 'biome lint --diagnostic-level=error src',
      check: 'biome check --formatter-enabled=false src',
      absolute: 'biome lint FOLDER/src',
      actions: 'biome lint --reporter=github src',
      json: 'biome lint --reporter=json src',
      junit: 'biome lint --reporter=junit src',
      summary: 'biome lint --reporter=summary src',
      npm: 'npm run lint',
    },
    slashes,
    { base: 'biome lint --error-on-warnings src', npm: 'npm run lint -- --error-on-warnings' },
  );

const oxlint = checker(
  { oxlint: '1.94.0' },
  {
    ...manifest('oxlint src'),
    '.oxlintrc.json':
      '{ "rules": { "no-undef": "error", "no-unused-vars": "error", "no-debugger": "error", "eqeqeq": "error", "no-console": "warn" }, "env": { "es2024": true }, "globals": { "console": "readonly" } }\n',
  },
  scripts,
  'oxlint src',
  {
    colour: { command: 'oxlint src', env: colour },
    quiet: 'oxlint --quiet src',
    absolute: 'oxlint FOLDER/src',
    unix: 'oxlint -f unix src',
    stylish: 'oxlint -f stylish src',
    actions: 'oxlint -f github src',
    json: 'oxlint -f json src',
    junit: 'oxlint -f junit src',
    npm: 'npm run lint',
  },
  slashes,
  {
    base: 'oxlint --deny-warnings src',
    limited: 'oxlint --max-warnings 0 src',
    npm: 'npm run lint -- --deny-warnings',
    unix: 'oxlint --deny-warnings -f unix src',
  },
);

const typed = (symbol: string, member: string) =>
  `interface Cart { total: number }\nexport const cart: Cart = { total: 1 };\nconsole.log(${symbol}, cart.${member});\n`;
const returns = (value: string) => `export function weigh(): number {\n  return ${value};\n}\n`;
const types: Sets = {
  many: { 'src/cart.ts': typed('price1', 'sum'), 'src/item.ts': returns("'heavy'") },
  fewer: { 'src/cart.ts': typed('price1', 'total'), 'src/item.ts': returns("'heavy'") },
  'other-number': { 'src/cart.ts': typed('price2', 'sum'), 'src/item.ts': returns("'heavy'") },
  'other-file': { 'src/cart.ts': typed('price1', 'sum'), 'src/order.ts': returns("'heavy'") },
  'other-code': { 'src/cart.ts': typed('price1', 'sum'), 'src/item.ts': returns('') },
  twice: {
    'src/cart.ts': `${typed('price1', 'sum')}console.log(price1, cart.sum);\n`,
    'src/item.ts': returns("'heavy'"),
  },
  missing: {
    'src/cart.ts': "import { gone } from './gone.ts';\nimport thing from 'no-such-thing';\nconsole.log(gone, thing);\n",
  },
  syntax: { 'src/cart.ts': 'export const = 3;\n' },
  nested: {
    'src/cart.ts':
      "interface A { a: { b: { c: number } }; f: (x: string) => void }\nexport const a: A = { a: { b: { c: 'one' } }, f: (x: number) => x };\nexport const b: { a: { b: { c: number } } } = { a: { b: { c: 'x' as string | boolean } } };\nconst n: A = b; void n;\nfunction over(a: string): void; function over(a: number): void; function over(_a: unknown) {}\nover(true);\n",
  },
};
const config: Files = {
  ...manifest('tsc -p .'),
  'tsconfig.json':
    '{ "compilerOptions": { "strict": true, "noEmit": true, "types": [], "lib": ["es2022", "dom"], "module": "nodenext", "allowImportingTsExtensions": true }, "include": ["src"] }\n',
};
const tsc = (packages: Record<string, string>) =>
  checker(packages, config, types, 'tsc -p .', {
    colour: { command: 'tsc -p . --pretty', env: colour },
    pretty: 'tsc -p . --pretty',
    elsewhere: 'mkdir other && cd other && tsc -p ..',
    build: 'tsc -b . --verbose',
    npm: 'npm run lint',
  });

const sheet = (property: string, more = '') => `a {\n  ${property}: red;\n}\n\n.b {\n  color: #ggg;\n}\n${more}`;
const styles: Sets = {
  many: { 'src/cart.css': sheet('colr1', 'a {\n}\n'), 'src/item.css': 'i {\n  color: red;\n  color: blue;\n}\n' },
  fewer: { 'src/cart.css': sheet('colr1'), 'src/item.css': 'i {\n  color: red;\n  color: blue;\n}\n' },
  'other-number': {
    'src/cart.css': sheet('colr2', 'a {\n}\n'),
    'src/item.css': 'i {\n  color: red;\n  color: blue;\n}\n',
  },
  'other-file': {
    'src/cart.css': sheet('colr1', 'a {\n}\n'),
    'src/order.css': 'i {\n  color: red;\n  color: blue;\n}\n',
  },
  syntax: { 'src/cart.css': 'a { color: red;\n' },
};
const stylelint = (packages: Record<string, string>) =>
  checker(
    packages,
    {
      ...manifest("stylelint 'src/*.css'"),
      '.stylelintrc.json':
        '{ "rules": { "property-no-unknown": true, "color-no-invalid-hex": true, "block-no-empty": true, "declaration-block-no-duplicate-properties": true, "color-named": ["never", { "severity": "warning" }] } }\n',
    },
    styles,
    "stylelint 'src/*.css'",
    {
      colour: { command: "stylelint --color 'src/*.css'", env: colour },
      quiet: "stylelint --quiet 'src/*.css'",
      absolute: "stylelint 'FOLDER/src/*.css'",
      verbose: "stylelint -f verbose 'src/*.css'",
      compact: "stylelint -f compact 'src/*.css'",
      unix: "stylelint -f unix 'src/*.css'",
      tap: "stylelint -f tap 'src/*.css'",
      json: "stylelint -f json 'src/*.css'",
      npm: 'npm run lint',
    },
    (text) => `/* ${text} */`,
  );

const ugly = 'const a   = 1\n';
const neat = 'const a = 1;\n';
const formats: Sets = {
  many: { 'src/cart.js': ugly, 'src/item1.js': ugly, 'src/neat.js': neat },
  fewer: { 'src/cart.js': ugly, 'src/item1.js': neat, 'src/neat.js': neat },
  'other-number': { 'src/cart.js': ugly, 'src/item2.js': ugly, 'src/neat.js': neat },
  syntax: { 'src/broken.js': 'export const = 3;\n', 'src/item1.js': ugly },
};
const prettier = (packages: Record<string, string>) =>
  checker(packages, manifest('prettier --check src'), formats, 'prettier --check src', {
    colour: { command: 'prettier --check src', env: colour },
    quiet: 'prettier --check --log-level warn src',
    absolute: "prettier --check 'FOLDER/src'",
    npm: 'npm run lint',
  });

export const checkers: Readonly<Record<string, Checker>> = {
  typescript: tsc({ typescript: '7.0.2' }),
  'typescript-5': tsc({ typescript: '5.9.3' }),
  eslint: eslint({ eslint: '10.15.0', 'eslint-formatter-unix': '9.0.1', 'eslint-formatter-compact': '9.0.1' }),
  'eslint-9': eslint({ eslint: '9.39.5', 'eslint-formatter-unix': '9.0.1', 'eslint-formatter-compact': '9.0.1' }),
  biome: biome(
    { '@biomejs/biome': '2.6.8' },
    '{ "linter": { "rules": { "preset": "none", "correctness": { "noUndeclaredVariables": "error", "noUnusedVariables": "error" }, "suspicious": { "noDebugger": "error", "noDoubleEquals": "error", "noConsole": "warn" } } } }\n',
  ),
  'biome-1': biome(
    { '@biomejs/biome': '1.9.4' },
    '{ "linter": { "rules": { "recommended": false, "correctness": { "noUndeclaredVariables": "error", "noUnusedVariables": "error" }, "suspicious": { "noDebugger": "error", "noDoubleEquals": "error", "noConsole": "warn" } } } }\n',
  ),
  oxlint,
  stylelint: stylelint({ stylelint: '18.1.0' }),
  'stylelint-16': stylelint({ stylelint: '16.26.1' }),
  prettier: prettier({ prettier: '3.10.1' }),
  'prettier-2': prettier({ prettier: '2.8.8' }),
};
