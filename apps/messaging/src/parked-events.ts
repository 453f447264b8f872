import 'reflect-metadata';
import { runParkedEvents } from '@customer-platform/event-bus';
import { MessagingModule } from './messaging.module.js';

process.exitCode = await runParkedEvents({ module: 'messaging', root: MessagingModule });
