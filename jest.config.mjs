/**
 * Jest runs the TypeScript sources as Node's own ES modules, over one graph of modules for all files of a worker
 * (infra/test/runner); libraries resolve to their sources, so a test needs no build.
 */
export const config = {
  rootDir: '.',
  testMatch: ['<rootDir>/{apps,libs,infra}/**/*.spec.ts', '<rootDir>/{apps,infra}/**/*.e2e-spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/fixtures/'],
  modulePathIgnorePatterns: ['/dist/', '/out-tsc/', '<rootDir>/infra/boundaries/fixtures/'],
  globalSetup: '<rootDir>/infra/test/global-setup.ts',
  globalTeardown: '<rootDir>/infra/test/global-teardown.ts',
  testEnvironment: '<rootDir>/infra/test/runner/environment.mjs',
  testRunner: '<rootDir>/infra/test/runner/runner.mjs',
  transform: {},
  testSequencer: '<rootDir>/infra/test/runner/walks-first.mjs',
  reporters: ['default', '<rootDir>/infra/test/runner/progress.mjs'],
  // One more than processors: a third of a worker's time goes into waiting for servers.
  maxWorkers: 3,
  // Applications of earlier files leave garbage in a worker's heap: a new worker takes over before it slows the rest.
  workerIdleMemoryLimit: '2GB',
  // What is waited for says itself for how long, up to 90 s; this ends what hangs.
  testTimeout: 120_000,
};

export default config;
