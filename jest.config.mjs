/** Jest runs the TypeScript sources as ES modules; libraries resolve to their sources, so a test needs no build. */
export default {
  rootDir: '.',
  testMatch: ['<rootDir>/{apps,libs,infra}/**/*.spec.ts', '<rootDir>/{apps,infra}/**/*.e2e-spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/fixtures/'],
  modulePathIgnorePatterns: ['/dist/', '/out-tsc/', '<rootDir>/infra/boundaries/fixtures/'],
  globalSetup: '<rootDir>/infra/test/global-setup.ts',
  globalTeardown: '<rootDir>/infra/test/global-teardown.ts',
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { configFile: `${import.meta.dirname}/.swcrc` }] },
  moduleNameMapper: {
    '^@customer-platform/([a-z-]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  maxWorkers: 2,
  // Modules of earlier files stay in a worker's heap until its end: a new one takes over before collecting them slows it.
  workerIdleMemoryLimit: '2GB',
  // What is waited for says itself for how long, up to 90 s; this ends what hangs.
  testTimeout: 120_000,
};
