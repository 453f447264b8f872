import 'reflect-metadata';
import { writeOpenApi } from '@customer-platform/http';
import { IdentityModule } from './identity.module.js';

await writeOpenApi({ module: 'identity', root: IdentityModule });
