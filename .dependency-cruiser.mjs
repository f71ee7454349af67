// Who may import whom. The prose of these rules is in docs/decisions; each name below is what a violation is reported under.
const tests = '\\.test\\.ts$';
const anyPackage = '^(packages/[^/]+/[^/]+|services/[^/]+|deploy/[^/]+|test)/';
const module = (name) => `(^|/)node_modules/${name}/`;

export default {
  forbidden: [
    {
      name: 'domain-is-pure',
      comment: 'Domain code imports domain code only; zod is for contracts, hashing for the kernel.',
      severity: 'error',
      from: {
        path: '^packages/domain/',
        pathNot: [tests, '^packages/domain/[^/]+/test/', '^packages/domain/(contracts|kernel|signatures)/'],
      },
      to: { pathNot: '^packages/domain/' },
    },
    {
      name: 'contracts-import-domain-and-zod',
      severity: 'error',
      from: { path: '^packages/domain/contracts/', pathNot: tests },
      to: { pathNot: ['^packages/domain/', module('zod')] },
    },
    {
      name: 'signatures-import-domain-and-re2js',
      comment: 'The engine for the patterns that users write is pure and linear in time.',
      severity: 'error',
      from: { path: '^packages/domain/signatures/', pathNot: tests },
      to: { pathNot: ['^packages/domain/', module('re2js')] },
    },
    {
      name: 'kernel-imports-hashing-only',
      severity: 'error',
      from: { path: '^packages/domain/kernel/', pathNot: tests },
      to: { pathNot: ['^packages/domain/kernel/', '^(node:)?crypto$'] },
    },
    {
      name: 'domain-tests-stay-below',
      comment: 'Even a test of domain code knows no face, service or adapter; only the testkit.',
      severity: 'error',
      from: { path: ['^packages/domain/.*\\.test\\.ts$', '^packages/domain/[^/]+/test/'] },
      to: { path: '^(packages/(faces|platform)|services|deploy)/', pathNot: '^packages/platform/testkit/' },
    },
    {
      name: 'platform-imports-domain-and-platform',
      severity: 'error',
      from: { path: '^packages/platform/' },
      to: { path: '^(packages/faces|services|deploy|test)/' },
    },
    {
      name: 'faces-import-no-service',
      severity: 'error',
      from: { path: '^packages/faces/' },
      to: { path: '^(services|deploy|test)/' },
    },
    {
      name: 'services-import-no-face',
      comment: 'One exception: the projection renders the page, so it may import the dashboard.',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^(packages/faces|deploy|test)/', pathNot: '^packages/faces/dashboard/' },
    },
    {
      name: 'only-projection-imports-the-dashboard',
      severity: 'error',
      from: { path: '^services/(?!projection/)' },
      to: { path: '^packages/faces/' },
    },
    {
      name: 'services-never-import-each-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'nats-only-in-eventlog',
      severity: 'error',
      from: { pathNot: '^(packages/platform/(eventlog|testkit)|test)/' },
      to: { path: module('(@nats-io|nats)') },
    },
    {
      name: 'postgres-only-in-its-packages',
      severity: 'error',
      from: { pathNot: '^(packages/platform/(readmodel|claims|access|testkit)|test)/' },
      to: { path: module('(kysely|pg|@types/pg)') },
    },
    {
      name: 'no-deep-imports',
      comment:
        'A package is imported by its name: what its index.ts does not export is its own. The testkit has a second entry, so that only tests of pages load a browser driver.',
      severity: 'error',
      from: { path: anyPackage },
      to: {
        path: '^(packages/[^/]+|services|deploy)/[^/]+/',
        pathNot: ['^$1/', '^packages/[^/]+/[^/]+/src/index\\.ts$', '^packages/platform/testkit/src/browser\\.ts$'],
      },
    },
    {
      name: 'packages-are-imported-by-name',
      severity: 'error',
      from: { path: anyPackage },
      to: { path: '^packages/[^/]+/[^/]+/', pathNot: '^$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'only-main-imports-adapters',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: [tests, '^services/[^/]+/src/main\\.ts$', '/adapters/'] },
      to: { path: '^services/$1/(src/)?adapters/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'everything-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)\\.headway/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    parser: 'tsc',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};
