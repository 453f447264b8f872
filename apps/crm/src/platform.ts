import 'reflect-metadata';
import { deadLetters, installation, kafka, migrate, runPlatform, secrets } from '@customer-platform/cli';
import { sealedSigningKeys } from '@customer-platform/database';
import { CRM_MIGRATIONS } from './migrations/index.js';

process.exitCode = await runPlatform({
  module: 'crm',
  commands: [
    migrate(CRM_MIGRATIONS),
    deadLetters(async () => (await import('./crm.module.js')).CrmModule),
    installation(),
    kafka(async () => (await import('./crm.module.js')).CrmModule),
    secrets((keyring) => [sealedSigningKeys('crm', keyring)]),
  ],
});
