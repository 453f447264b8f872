import 'reflect-metadata';
import { connectEventBus } from '@customer-platform/event-bus';
import { bootstrap } from '@customer-platform/http';
import { IdentityModule } from './identity.module.js';

await bootstrap({ module: 'identity', root: IdentityModule, connect: connectEventBus });
