import type { Keyring } from '@customer-platform/config';
import { KeySeal } from '../signing-keys/key-seal.js';
import { placeOfSigningKey, sealOfSigningKeys } from '../signing-keys/signing-keys.js';

/** A row with something sealed: its key, what else was asked for, and the `content` of the column. */
export type SealedRow<Content> = Readonly<Record<string, string>> & { readonly content: Content };

/** A column that holds sealed texts. */
export interface SealedColumn<Content = unknown> {
  readonly table: string;
  readonly column: string;
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Further columns that say where a text belongs. */
  readonly also?: readonly string[];
  readonly type: 'text' | 'bytea' | 'jsonb';
  /** Lists the organizations (`organization_id`) to go through, where a worker does not see the table's rows. */
  readonly organizations?: string;
  /** The content sealed by the key that seals now; undefined if all of it is already. Throws where a text does not open. */
  renew(row: SealedRow<Content>): Content | undefined;
}

/** The column of a module's signing keys; every module that has the table names it. */
export function sealedSigningKeys(module: string, keyring: Keyring): SealedColumn<string> {
  const seal = new KeySeal(keyring, sealOfSigningKeys(module));
  return {
    table: 'signing_keys',
    column: 'sealed_private_key',
    key: ['kid'],
    also: ['purpose'],
    type: 'text',
    renew: ({ kid = '', purpose = '', content }) => seal.renew(placeOfSigningKey(purpose, kid), content),
  };
}
