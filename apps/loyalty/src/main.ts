import { connectEventBus } from '@customer-platform/event-bus';
import { bootstrap } from '@customer-platform/http';
import { LoyaltyModule } from './loyalty.module.js';

await bootstrap({ module: 'loyalty', root: LoyaltyModule, connect: connectEventBus });
