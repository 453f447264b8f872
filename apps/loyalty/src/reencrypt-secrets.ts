import 'reflect-metadata';
import { runReencryption, sealedSigningKeys } from '@customer-platform/database';

process.exitCode = await runReencryption({
  module: 'loyalty',
  columns: (keyring) => [sealedSigningKeys('loyalty', keyring)],
});
