import 'reflect-metadata';
import { deadLetters, installation, kafka, migrate, runPlatform, secrets } from '@customer-platform/cli';
import { sealedSigningKeys } from '@customer-platform/database';
import { balances } from './ledger/balances.command.js';
import { migrations } from './migrations/index.js';

process.exitCode = await runPlatform({
  module: 'loyalty',
  commands: [
    migrate(migrations),
    balances,
    deadLetters(async () => (await import('./loyalty.module.js')).LoyaltyModule),
    installation(),
    kafka(async () => (await import('./loyalty.module.js')).LoyaltyModule),
    secrets((keyring) => [sealedSigningKeys('loyalty', keyring)]),
  ],
});
