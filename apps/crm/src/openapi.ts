import 'reflect-metadata';
import { writeOpenApi } from '@customer-platform/http';
import { CrmModule } from './crm.module.js';

await writeOpenApi({ module: 'crm', root: CrmModule });
