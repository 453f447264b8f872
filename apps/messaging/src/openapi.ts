import { writeOpenApi } from '@customer-platform/http';
import { MessagingModule } from './messaging.module.js';

await writeOpenApi({ module: 'messaging', root: MessagingModule });
