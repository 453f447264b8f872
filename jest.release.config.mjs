import { config } from './jest.config.mjs';

/** Each route meets every shape; `full` fills bodies whole besides. */
process.env.HOSTILE_INPUTS ??= 'all';

/** Properties draw more, from a seed that is another each time. */
process.env.PROPERTIES ??= 'full';
process.env.PROPERTY_SEED ??= String(Date.now() % 1_000_000_000);
console.log(`Properties draw from PROPERTY_SEED=${process.env.PROPERTY_SEED}`);

/** What needs minutes by its nature, and what only a clock can tell, before a release: `npm run test:release`. */
export default {
  ...config,
  testMatch: [
    '<rootDir>/{apps,libs,infra}/**/*.release-spec.ts',
    '<rootDir>/{apps,libs}/**/*.property.spec.ts',
    '<rootDir>/apps/gateway/test/hostile-inputs.e2e-spec.ts',
  ],
};
