import 'reflect-metadata';
import { runParkedEvents } from '@customer-platform/event-bus';
import { CoreModule } from './core.module.js';

process.exitCode = await runParkedEvents({ module: 'core', root: CoreModule });
