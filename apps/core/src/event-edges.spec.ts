import { itGoesOnBehindEveryEdge } from '@customer-platform/testing';
import { startCore, type TestCore } from './core.fixture.js';
import { CoreModule } from './core.module.js';

let core: TestCore;
afterAll(() => core.close());

itGoesOnBehindEveryEdge({
  module: 'core',
  root: CoreModule,
  start: async () => (core = await startCore()),
});
