import 'reflect-metadata';
import { runMigrations } from '@customer-platform/database';
import { CORE_MIGRATIONS } from './migrations/core.migrations.js';

await runMigrations({ module: 'core', migrations: CORE_MIGRATIONS });
