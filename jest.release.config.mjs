import { config } from './jest.config.mjs';

/** What only a clock can tell, before a release: `npm run test:release`. */
export default { ...config, testMatch: ['<rootDir>/{apps,libs,infra}/**/*.release-spec.ts'] };
