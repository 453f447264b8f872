import type { Keyring } from '@customer-platform/config';
import { KeySeal, type SealedColumn } from '@customer-platform/database';

/** What seals the secrets that providers have given, each bound to its connection's id. */
export function sealOfClientSecrets(keyring: Keyring): KeySeal {
  return new KeySeal(keyring, 'identity SSO client secrets at rest');
}

/** The column they are in. */
export function sealedClientSecrets(keyring: Keyring): SealedColumn<string> {
  const seal = sealOfClientSecrets(keyring);
  return {
    table: 'sso_connections',
    column: 'client_secret',
    key: ['organization_id', 'id'],
    type: 'text',
    renew: ({ id = '', content }) => seal.renew(id, content),
  };
}

/** Injection token of what seals them. */
export const CLIENT_SECRET_SEAL = Symbol('CLIENT_SECRET_SEAL');
