import { itGoesOnBehindEveryEdge } from '@customer-platform/testing';
import { startCrm, type TestCrm } from './crm.fixture.js';
import { CrmModule } from './crm.module.js';

let crm: TestCrm;
afterAll(() => crm.close());

itGoesOnBehindEveryEdge({
  module: 'crm',
  root: CrmModule,
  start: async () => (crm = await startCrm({ events: true })),
});
