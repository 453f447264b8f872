import { itGoesOnBehindEveryEdge } from '@customer-platform/testing';
import { startLoyalty } from './loyalty.fixture.js';
import { LoyaltyModule } from './loyalty.module.js';

let close: () => Promise<void>;
afterAll(() => close());

itGoesOnBehindEveryEdge({
  module: 'loyalty',
  root: LoyaltyModule,
  start: async () => {
    const loyalty = await startLoyalty();
    ({ close } = loyalty);
    return loyalty;
  },
});
