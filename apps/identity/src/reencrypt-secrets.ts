import 'reflect-metadata';
import { runReencryption, sealedSigningKeys } from '@customer-platform/database';
import { sealedFactors } from './mfa/factor-seal.js';

process.exitCode = await runReencryption({
  module: 'identity',
  columns: (keyring) => [sealedFactors(keyring), sealedSigningKeys('identity', keyring)],
});
