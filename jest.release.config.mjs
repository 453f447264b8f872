import { config } from './jest.config.mjs';

/** Each route meets every shape; `full` fills bodies whole besides. */
process.env.HOSTILE_INPUTS ??= 'all';

/** What needs minutes by its nature, and what only a clock can tell, before a release: `npm run test:release`. */
export default {
  ...config,
  testMatch: [
    '<rootDir>/{apps,libs,infra}/**/*.release-spec.ts',
    '<rootDir>/apps/gateway/test/hostile-inputs.e2e-spec.ts',
  ],
};
