import { connectEventBus } from '@customer-platform/event-bus';
import { bootstrap } from '@customer-platform/http';
import { MessagingModule } from './messaging.module.js';

await bootstrap({ module: 'messaging', root: MessagingModule, connect: connectEventBus });
