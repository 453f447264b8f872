/**
 * Who may import whom, file by file. Each rule has a name, a reason, and in infra/boundaries/fixtures an import
 * that it must catch beside a legal twin that it must let pass.
 * Test files start real servers, so they may use the testing library and development dependencies.
 */
import { roomRules } from './infra/boundaries/rooms.ts';

/** What runs in a browser, and what builds it. */
const BUNDLED = '^apps/console/(src/|vite\\.config)';
const SPECS =
  '(\\.spec|\\.(e2e|release)-spec|\\.fixture)\\.ts$|^(apps|libs|infra)/[^/]+/test/|^libs/testing/';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-circular',
      comment:
        'Two files that import each other cannot be understood, tested or loaded one by one. (A page knows its route by getRouteApi.)',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'apps-never-import-apps',
      comment:
        'Modules meet in HTTP, domain events and the contract libraries only: each is deployed by itself.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'contract-libs-import-contract-libs-only',
      comment: 'A contract is readable without the platform that serves it.',
      severity: 'error',
      from: { path: '^libs/(permissions|problem-json|events)/' },
      to: { path: '^(libs|apps|infra)/', pathNot: '^libs/(permissions|problem-json|events)/' },
    },
    {
      name: 'contract-libs-without-frameworks',
      comment: 'A contract library loads in any program: no Nest, no TypeORM, no Kafka client.',
      severity: 'error',
      from: { path: '^libs/(permissions|problem-json|events)/' },
      to: { path: '(^|/)node_modules/(@nestjs/|typeorm/|kafkajs/)' },
    },
    {
      name: 'published-libs-import-nothing-of-ours',
      comment: 'Who installs a published library gets no other package of this repository with it.',
      severity: 'error',
      from: { path: '^libs/(client|track)/', pathNot: SPECS },
      to: { path: '^(libs|apps|infra)/', pathNot: '^libs/$1/' },
    },
    {
      name: 'pages-import-published-libs-only',
      comment: 'The Console runs in browsers and is a client like any other. What serves its files does not.',
      severity: 'error',
      from: { path: '^apps/console/(?!server/)', pathNot: SPECS },
      to: { path: '^(libs|infra)/', pathNot: '^libs/(client|track)/' },
    },
    {
      name: 'libs-never-import-apps',
      comment: 'Business meaning is in the apps; a library that needs it is no library.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'nothing-imports-infra',
      comment: 'What runs, tests and measures the platform is no part of it.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: SPECS },
      to: { path: '^infra/' },
    },
    {
      name: 'libs-through-their-index',
      comment: 'A library is what its src/index.ts publishes; the rest may change without asking.',
      severity: 'error',
      from: { path: '^(apps|libs|infra)/([^/]+)/' },
      to: { path: '^libs/', pathNot: '^libs/[^/]+/(src|dist)/index\\.(ts|js)$|^$1/$2/' },
    },
    {
      name: 'kafkajs-only-in-event-bus',
      comment: 'The client’s known weaknesses are handled once, in the transport.',
      severity: 'error',
      from: { pathNot: '^libs/event-bus/' },
      to: { path: '(^|/)node_modules/kafkajs/' },
    },
    {
      name: 'testing-from-specs-only',
      comment: 'Fixtures and throw-away databases never reach production.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: SPECS },
      to: { path: '^libs/testing/' },
    },
    {
      name: 'specs-are-not-imported',
      comment: 'A test is nobody’s building block: what two tests share is a fixture.',
      severity: 'error',
      from: {},
      to: { path: '(\\.spec|\\.(e2e|release)-spec)\\.ts$' },
    },
    {
      name: 'fixtures-from-specs-only',
      comment: 'Fixtures make valid rows for tests.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: SPECS },
      to: { path: '\\.fixture\\.ts$' },
    },
    {
      name: 'controller-calls-its-own-service',
      comment: 'A controller translates HTTP for its own feature; features meet in services.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/src/([^/]+)/.*\\.controller\\.ts$' },
      to: { path: '^apps/$1/src/[^/]+/.*\\.service\\.ts$', pathNot: '^apps/$1/src/$2/' },
    },
    {
      name: 'entity-of-own-feature-only',
      comment:
        'A feature asks another feature’s service, never for its rows. (The app’s root lists them all.)',
      severity: 'error',
      from: { path: '^apps/([^/]+)/src/([^/]+)/', pathNot: SPECS },
      to: { path: '^apps/$1/src/[^/]+/.*\\.entity\\.ts$', pathNot: '^apps/$1/src/$2/' },
    },
    ...roomRules(SPECS),
    {
      name: 'no-undeclared-package',
      comment: 'A package that package.json does not name works by accident.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: [SPECS, BUNDLED].flat() },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-undeclared-package',
      comment:
        'Pages carry their packages in their bundle: the image that serves them installs none of them.',
      severity: 'error',
      from: { path: BUNDLED, pathNot: SPECS },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that resolves to nothing fails at start at the latest.',
      severity: 'error',
      from: {},
      // Modules of the k6 binary itself, and texts that the Console's build makes.
      to: { couldNotResolve: true, pathNot: '^(k6(/|$)|virtual:texts/)' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '/dist/'] },
    exclude: { path: ['^infra/boundaries/fixtures/', '/dist/', '/out-tsc/', '^apps/[^/]+/openapi\\.json$'] },
    combinedDependencies: true,
    tsPreCompilationDeps: true,
    detectProcessBuiltinModuleCalls: true,
    tsConfig: { fileName: 'tsconfig.json' },
    // Between packages an import resolves to the sources, as in development and tests.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types', 'typings'],
      extensions: ['.ts', '.mjs', '.js', '.json', '.d.ts'],
    },
    cache: false,
    progress: { type: 'none' },
    reporterOptions: { text: { highlightFocused: true } },
  },
};
