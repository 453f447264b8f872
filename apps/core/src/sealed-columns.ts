import type { Keyring } from '@customer-platform/config';
import { KeySeal, sealedSigningKeys, type SealedColumn } from '@customer-platform/database';
import { FILE_KEYS, placeOfKey } from './imports/files/import-files.js';
import { NationalIdVault } from './people/national-ids/national-id.vault.js';
import { placeOfArchive, sealOfArchives } from './subject-requests/archive/archive-seal.js';

/** Contacts are merged by audited calls, so whoever has merges has a chain; workers do not see merges. */
const ORGANIZATIONS = 'SELECT organization_id FROM audit_chains ORDER BY organization_id';

/** All that core keeps sealed. */
export function sealedColumns(keyring: Keyring) {
  const vault = new NationalIdVault(keyring);
  const contacts: SealedColumn<string> = {
    table: 'contacts',
    column: 'national_id_sealed',
    key: ['organization_id', 'id'],
    also: ['national_id_type'],
    type: 'text',
    renew: ({ organization_id: organization = '', national_id_type: type = '', content }) =>
      vault.renew(organization, type, content),
  };
  const merges: SealedColumn = {
    table: 'contact_merges',
    column: 'changes',
    key: ['organization_id', 'id'],
    type: 'jsonb',
    organizations: ORGANIZATIONS,
    renew: ({ organization_id: organization = '', content }) => renewWithin(vault, organization, content),
  };
  const keys = new KeySeal(keyring, FILE_KEYS);
  const files: SealedColumn<string> = {
    table: 'imports',
    column: 'file_key',
    key: ['organization_id', 'id'],
    type: 'text',
    renew: ({ organization_id: organization = '', id = '', content }) =>
      keys.renew(placeOfKey(organization, id), content),
  };
  const archives: SealedColumn<string> = {
    table: 'subject_archives',
    column: 'key_sealed',
    key: ['organization_id', 'subject_request_id'],
    type: 'text',
    renew: ({ organization_id = '', subject_request_id = '', content }) =>
      sealOfArchives(keyring).renew(placeOfArchive({ organization_id, subject_request_id }), content),
  };
  return [contacts, merges, files, archives, sealedSigningKeys('core', keyring)];
}

/** What a merge made of a survivor holds the columns of a national id wherever it was one that changed. */
function renewWithin(vault: NationalIdVault, organizationId: string, content: unknown): unknown {
  let renewed = false;
  const walked = walk(content, (type, sealed) => {
    const anew = vault.renew(organizationId, type, sealed);
    renewed ||= anew !== undefined;
    return anew ?? sealed;
  });
  return renewed ? walked : undefined;
}

function walk(value: unknown, renew: (type: string, sealed: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => walk(item, renew));
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one, renew)]));
  const { nationalIdType: type, nationalIdSealed: sealed } = copy;
  if (typeof type === 'string' && typeof sealed === 'string') copy['nationalIdSealed'] = renew(type, sealed);
  return copy;
}
