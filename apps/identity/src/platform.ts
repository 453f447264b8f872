import 'reflect-metadata';
import { installation, kafka, migrate, runPlatform, secrets, signingKeys } from '@customer-platform/cli';
import { sealedSigningKeys } from '@customer-platform/database';
import { sealedFactors } from './mfa/factor-seal.js';
import { migrations } from './migrations/index.js';
import { consoleClient, factors, keys, organizations, sessions } from './operator/operator.commands.js';
import { ID_TOKEN_ALGORITHM, ID_TOKENS } from './oauth/id-tokens.js';
import { ACCESS_TOKENS, LONGEST_ACCESS_TOKEN_LIFE_S } from './sessions/access-token.issuing.js';
import { sealedClientSecrets } from './sso-connections/client-secret-seal.js';

process.exitCode = await runPlatform({
  module: 'identity',
  commands: [
    migrate(migrations),
    organizations,
    keys,
    installation(),
    kafka(async () => (await import('./identity.module.js')).IdentityModule),
    consoleClient,
    factors,
    sessions,
    secrets((keyring) => [
      sealedFactors(keyring),
      sealedClientSecrets(keyring),
      sealedSigningKeys('identity', keyring),
    ]),
    signingKeys({ purpose: ACCESS_TOKENS, lifeMinutes: LONGEST_ACCESS_TOKEN_LIFE_S / 60 }),
    signingKeys({
      name: 'id-token-keys',
      purpose: ID_TOKENS,
      lifeMinutes: 60,
      algorithm: ID_TOKEN_ALGORITHM,
    }),
  ],
});
