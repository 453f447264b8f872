import 'reflect-metadata';
import { deadLetters, installation, kafka, migrate, runPlatform, secrets } from '@customer-platform/cli';
import { deliverability } from './reports/deliverability/deliverability.command.js';
import { migrations } from './migrations/index.js';
import { sealedColumns } from './sealed-columns.js';

process.exitCode = await runPlatform({
  module: 'messaging',
  commands: [
    migrate(migrations),
    deliverability,
    deadLetters(async () => (await import('./messaging.module.js')).MessagingModule),
    installation(),
    kafka(async () => (await import('./messaging.module.js')).MessagingModule),
    secrets(sealedColumns),
  ],
});
