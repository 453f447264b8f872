import { runMigrations } from '@customer-platform/database';
import { migrations } from './migrations/index.js';

await runMigrations({ module: 'messaging', migrations });
