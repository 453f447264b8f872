import type { Keyring } from '@customer-platform/config';
import { KeySeal, type SealedColumn } from '@customer-platform/database';

/** What seals the secrets of second factors, each bound to its factor's id. */
export function sealOfFactors(keyring: Keyring): KeySeal {
  return new KeySeal(keyring, 'identity second factors at rest');
}

/** The column they are in. */
export function sealedFactors(keyring: Keyring): SealedColumn<Buffer> {
  const seal = sealOfFactors(keyring);
  return {
    table: 'mfa_factors',
    column: 'secret',
    key: ['organization_id', 'id'],
    type: 'bytea',
    renew: ({ id = '', content }) => {
      const renewed = seal.renew(id, content.toString());
      return renewed === undefined ? undefined : Buffer.from(renewed);
    },
  };
}
