import 'reflect-metadata';
import { connectEventBus } from '@customer-platform/event-bus';
import { bootstrap } from '@customer-platform/http';
import { CrmModule } from './crm.module.js';

await bootstrap({ module: 'crm', root: CrmModule, connect: connectEventBus });
