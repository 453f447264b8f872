import { writeOpenApi } from '@customer-platform/http';
import { LoyaltyModule } from './loyalty.module.js';

await writeOpenApi({ module: 'loyalty', root: LoyaltyModule });
