import 'reflect-metadata';
import { runParkedEvents } from '@customer-platform/event-bus';
import { LoyaltyModule } from './loyalty.module.js';

process.exitCode = await runParkedEvents({ module: 'loyalty', root: LoyaltyModule });
