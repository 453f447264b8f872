import { Injectable } from '@nestjs/common';
import {
  chainOf,
  contactKey,
  ContactRefs,
  newestOf,
  type ContactId,
  type ContactState,
} from '@customer-platform/contact-refs';
import type { Transaction } from '@customer-platform/database';
import { SHARED_CONTACT_NAMES, sharedFieldsOf } from '@customer-platform/events';
import { identifierForms } from '@customer-platform/http';
import type { CheckedAddress } from '../../vocabulary/addresses/address.js';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { canonicalAddresses, type Contact, type ContactProfile } from '../../vocabulary/contacts/contact.js';

interface Row extends ContactProfile {
  asked: string;
  organization_id: string;
  id: string;
  version: string;
  state: ContactState;
  merged_into: string | null;
}

const PROFILE_COLUMNS = [...SHARED_CONTACT_NAMES, 'attributes'];
const PROFILE = PROFILE_COLUMNS.join(', ');

/** Columns that follow from the profile: an address that a send gives is looked up by them. */
const CANONICAL_COLUMNS = ['email_canonical', 'phone_canonical'];

/**
 * A contact's state and its profile are each as new as they can be. Of two contacts that become one the merge is told
 * apart from their snapshots, and may come first: a snapshot that is older then still tells the profile.
 */
const UPSERT = `
  INSERT INTO contacts AS known (organization_id, id, version, profile_version, state, merged_into, ${PROFILE},
    email_canonical, phone_canonical)
  SELECT organization_id, id, version, version, state, merged_into, ${PROFILE}, email_canonical, phone_canonical
    FROM jsonb_populate_recordset(NULL::contacts, $1::jsonb)
   ORDER BY organization_id, id
  ON CONFLICT (organization_id, id) DO UPDATE SET version = greatest(known.version, excluded.version),
    state = CASE WHEN known.version < excluded.version THEN excluded.state ELSE known.state END,
    merged_into = CASE WHEN known.version < excluded.version THEN excluded.merged_into ELSE known.merged_into END,
    profile_version = excluded.version,
    ${[...PROFILE_COLUMNS, ...CANONICAL_COLUMNS].map((column) => `${column} = excluded.${column}`).join(', ')}
  WHERE coalesce(known.profile_version, known.version) < excluded.version AND known.state <> 'erased'`;

/** What else than its reference the row of a contact holds. */
const KEPT_PROFILE = {
  marked: {
    column: 'profile_version',
    inserted: '0',
    updated: 'coalesce(known.profile_version, known.version)',
  },
  erased: `${[...SHARED_CONTACT_NAMES, ...CANONICAL_COLUMNS].map((column) => `${column} = NULL`).join(', ')},
         attributes = '{}'`,
};

const RESOLVE = `
  WITH RECURSIVE ${chainOf('contacts')}
  SELECT DISTINCT ON (chain.organization_id, chain.asked) chain.asked, c.organization_id, c.id, c.version, c.state,
         c.merged_into, ${PROFILE_COLUMNS.map((column) => `c.${column}`).join(', ')}
    FROM chain CROSS JOIN LATERAL (
      SELECT * FROM contacts AS known
       WHERE known.organization_id = chain.organization_id AND known.id = chain.id OFFSET 0) AS c
   ORDER BY chain.organization_id, chain.asked, chain.step DESC`;

/** Nothing is sent to it any more, while what is kept of it says where to look for the rest. */
const CLOSE = `
  INSERT INTO contacts AS known (organization_id, id, version, state)
  SELECT $1, unnest($2::uuid[]), 0, 'erased'
  ON CONFLICT (organization_id, id) DO UPDATE SET state = 'erased' WHERE known.state NOT IN ('merged', 'erased')`;

const BY_EXTERNAL_ID = `
  SELECT asked AS external_id, last.id FROM unnest($2::text[]) AS asked, LATERAL (
    SELECT id FROM contacts WHERE organization_id = $1 AND external_id = asked
     ORDER BY (state = 'active') DESC, version DESC LIMIT 1) AS last`;

type AddressColumn = 'email_canonical' | 'phone_canonical';

/** Two are enough to know that there are several. */
const owners = (column: AddressColumn): string => `
  SELECT asked AS address, (found.ids)[1] AS id FROM unnest($2::text[]) AS asked, LATERAL (
    SELECT array_agg(id) AS ids FROM (
      SELECT id FROM contacts WHERE organization_id = $1 AND ${column} = asked AND state = 'active' LIMIT 2) AS two) AS found
   WHERE cardinality(found.ids) = 1`;

const OWNERS: Readonly<Record<AddressColumn, string>> = {
  email_canonical: owners('email_canonical'),
  phone_canonical: owners('phone_canonical'),
};

function columnOf(channel: Channel): AddressColumn {
  return channel === 'email' ? 'email_canonical' : 'phone_canonical';
}

/** The table `contacts`: core's contacts, as far as events and look-ups have told of them. */
@Injectable()
export class ContactsRepository extends ContactRefs {
  constructor() {
    super({ table: 'contacts', profile: KEPT_PROFILE });
  }

  /** Writes what is newer than what is known, contact by contact: of the state, and of the profile. */
  async save(tx: Transaction, contacts: readonly Contact[]): Promise<void> {
    if (contacts.length === 0) return;
    await tx.query(UPSERT, [JSON.stringify(newestOf(contacts).map(toRow))]);
  }

  /** The contacts behind ids, merges followed to the survivor; by {@link contactKey} of the id asked for. */
  async resolve(tx: Transaction, refs: readonly ContactId[]): Promise<Map<string, Contact>> {
    if (refs.length === 0) return new Map();
    const rows = await tx.prepared<Row>(RESOLVE, [
      refs.map(({ organizationId }) => organizationId),
      refs.map(({ id }) => id),
    ]);
    return new Map(
      rows.map((row) => [contactKey({ organizationId: row.organization_id, id: row.asked }), toContact(row)]),
    );
  }

  /**
   * The ids, active or not, of the contacts that had these external ids last, by the external id that was asked for: the
   * text itself is meant before its other writings (core.md §3).
   */
  async idsByExternalId(tx: Transaction, externalIds: readonly string[]): Promise<Map<string, string>> {
    if (externalIds.length === 0) return new Map();
    const rows = await tx.prepared<{ external_id: string; id: string }>(BY_EXTERNAL_ID, [
      tx.organizationId,
      [...new Set(externalIds.flatMap(identifierForms))],
    ]);
    const known = new Map(rows.map((row) => [row.external_id, row.id]));
    return new Map(
      externalIds.flatMap((asked): [string, string][] => {
        const id = identifierForms(asked)
          .map((form) => known.get(form))
          .find((each) => each !== undefined);
        return id === undefined ? [] : [[asked, id]];
      }),
    );
  }

  /** Of each address the one active contact that has it; undefined where there is none or several. */
  async owners(
    tx: Transaction,
    addresses: readonly CheckedAddress[],
  ): Promise<(address: CheckedAddress) => string | undefined> {
    const owners = new Map<string, string>();
    for (const [column, statement] of Object.entries(OWNERS)) {
      const asked = addresses.filter(({ channel }) => columnOf(channel) === column);
      if (asked.length === 0) continue;
      const texts = [...new Set(asked.map(({ canonical }) => canonical))];
      const rows = await tx.prepared<{ address: string; id: string }>(statement, [tx.organizationId, texts]);
      for (const { address, id } of rows) owners.set(`${column} ${address}`, id);
    }
    return ({ channel, canonical }) => owners.get(`${columnOf(channel)} ${canonical}`);
  }

  /** What is kept of these contacts, whatever their state. */
  async profiles(tx: Transaction, ids: readonly string[]): Promise<ContactProfile[]> {
    return tx.query<ContactProfile & { [column: string]: unknown }>(
      `SELECT id, ${PROFILE} FROM contacts WHERE organization_id = $1 AND id = ANY($2::uuid[])`,
      [tx.organizationId, ids],
    );
  }

  /** The first step of an erasure: no longer anybody's recipient. Who was merged leads to who is closed. */
  async close(tx: Transaction, ids: readonly string[]): Promise<void> {
    await tx.query(CLOSE, [tx.organizationId, ids]);
  }
}

function toRow({ organizationId, id, version, state, mergedInto, profile }: Contact) {
  const { email, phone } = canonicalAddresses(profile);
  return {
    ...profile,
    organization_id: organizationId,
    id,
    version,
    state,
    merged_into: mergedInto,
    email_canonical: email,
    phone_canonical: phone,
  };
}

function toContact(row: Row): Contact {
  const { id, attributes } = row;
  return {
    organizationId: row.organization_id,
    id,
    version: Number(row.version),
    state: row.state,
    mergedInto: row.merged_into,
    profile: { id, ...sharedFieldsOf(row), attributes },
  };
}
