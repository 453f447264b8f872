import 'reflect-metadata';
import { runSigningKeys } from '@customer-platform/database';
import { ID_TOKEN_ALGORITHM, ID_TOKENS } from './oauth/id-tokens.js';

process.exitCode = await runSigningKeys({
  module: 'identity',
  purpose: ID_TOKENS,
  lifeMinutes: 60,
  algorithm: ID_TOKEN_ALGORITHM,
  script: 'id-token-keys',
});
