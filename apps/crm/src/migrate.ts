import 'reflect-metadata';
import { runMigrations } from '@customer-platform/database';
import { CRM_MIGRATIONS } from './migrations/index.js';

await runMigrations({ module: 'crm', migrations: CRM_MIGRATIONS });
