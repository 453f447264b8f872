import 'reflect-metadata';
import { runParkedEvents } from '@customer-platform/event-bus';
import { CrmModule } from './crm.module.js';

process.exitCode = await runParkedEvents({ module: 'crm', root: CrmModule });
