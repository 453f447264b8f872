import 'reflect-metadata';
import { runReencryption, sealedSigningKeys } from '@customer-platform/database';

process.exitCode = await runReencryption({
  module: 'crm',
  columns: (keyring) => [sealedSigningKeys('crm', keyring)],
});
