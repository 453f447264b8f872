import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { CheckedAddress } from '../addresses/address.js';
import type { Channel } from '../addresses/channel.js';
import { canonicalAddresses, type Contact, type ContactProfile, type ContactState } from './contact.js';

/** An id that an organization gave or an event carried. */
export interface ContactRef {
  readonly organizationId: string;
  readonly id: string;
}

/** The state that a contact has from one of its versions on. */
export interface ContactMark extends ContactRef {
  readonly version: number;
  readonly state: ContactState;
  readonly mergedInto: string | null;
}

interface Row extends ContactProfile {
  asked: string;
  organization_id: string;
  id: string;
  version: string;
  state: ContactState;
  merged_into: string | null;
}

const PROFILE = 'external_id, email, phone, first_name, last_name, locale, timezone, country, attributes';

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
    profile_version = excluded.version, external_id = excluded.external_id, email = excluded.email,
    phone = excluded.phone, first_name = excluded.first_name, last_name = excluded.last_name,
    locale = excluded.locale, timezone = excluded.timezone, country = excluded.country,
    attributes = excluded.attributes, email_canonical = excluded.email_canonical,
    phone_canonical = excluded.phone_canonical
  WHERE coalesce(known.profile_version, known.version) < excluded.version AND known.state <> 'erased'`;

const MARK = `
  INSERT INTO contacts AS known (organization_id, id, version, profile_version, state, merged_into)
  SELECT organization_id, id, version, 0, state, merged_into
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::uuid[])
      AS marked (organization_id, id, version, state, merged_into)
   ORDER BY organization_id, id
  ON CONFLICT (organization_id, id) DO UPDATE SET version = excluded.version, state = excluded.state,
    merged_into = excluded.merged_into, profile_version = coalesce(known.profile_version, known.version)
  WHERE known.version <= excluded.version AND known.state <> 'erased'`;

const RESOLVE = `
  WITH RECURSIVE asked AS (SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS ref (organization_id, id)),
  chain AS (
    SELECT c.organization_id, c.id AS asked, c.id, c.state, c.merged_into, 0 AS step
      FROM asked JOIN contacts c ON c.organization_id = asked.organization_id AND c.id = asked.id
    UNION ALL
    SELECT c.organization_id, chain.asked, c.id, c.state, c.merged_into, chain.step + 1
      FROM chain JOIN contacts c ON c.organization_id = chain.organization_id AND c.id = chain.merged_into
     WHERE chain.state = 'merged' AND chain.step < 100
  )
  SELECT DISTINCT ON (chain.organization_id, chain.asked) chain.asked, c.organization_id, c.id, c.version, c.state,
         c.merged_into, ${PROFILE.replaceAll(/\w+/g, 'c.$&')}
    FROM chain JOIN contacts c ON c.organization_id = chain.organization_id AND c.id = chain.id
   ORDER BY chain.organization_id, chain.asked, chain.step DESC`;

/** From a contact up to its survivor, and from there down to everyone merged into it. */
const FAMILY = `
  WITH RECURSIVE chain AS (
    SELECT id, state, merged_into, 0 AS step FROM contacts WHERE organization_id = $1 AND id = $2
    UNION ALL
    SELECT c.id, c.state, c.merged_into, chain.step + 1
      FROM chain JOIN contacts c ON c.organization_id = $1 AND c.id = chain.merged_into
     WHERE chain.state = 'merged' AND chain.step < 100
  ),
  family AS (
    SELECT coalesce((SELECT id FROM chain ORDER BY step DESC LIMIT 1), $2::uuid) AS id
    UNION
    SELECT c.id FROM family JOIN contacts c ON c.organization_id = $1 AND c.merged_into = family.id
  )
  SELECT id FROM family`;

/** Of a contact nobody has told of, too; whatever its version: from here there is no way back. */
const ERASE = `
  INSERT INTO contacts AS known (organization_id, id, version, state)
  SELECT $1, id, 0, 'erased' FROM unnest($2::uuid[]) AS id ORDER BY id
  ON CONFLICT (organization_id, id) DO UPDATE SET state = 'erased', merged_into = NULL, external_id = NULL,
    email = NULL, phone = NULL, first_name = NULL, last_name = NULL, locale = NULL, timezone = NULL, country = NULL,
    attributes = '{}', email_canonical = NULL, phone_canonical = NULL`;

const ERASED = `
  SELECT organization_id, id FROM contacts
   WHERE (organization_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) AND state = 'erased'`;

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

/** Key of a contact across organizations. */
export function contactKey({ organizationId, id }: ContactRef): string {
  return `${organizationId}/${id}`;
}

/** The table `contacts`: core's contacts, as far as events and look-ups have told of them. */
@Injectable()
export class ContactsRepository {
  /** Writes what is newer than what is known, contact by contact: of the state, and of the profile. */
  async save(tx: Transaction, contacts: readonly Contact[]): Promise<void> {
    if (contacts.length === 0) return;
    const newest = new Map<string, Contact>();
    for (const contact of contacts) {
      const known = newest.get(contactKey(contact));
      if (!known || known.version < contact.version) newest.set(contactKey(contact), contact);
    }
    await tx.query(UPSERT, [JSON.stringify([...newest.values()].map(toRow))]);
  }

  /**
   * Moves contacts to other states, their profiles as they were; the snapshot of the same version may have come before.
   * Of several marks of one contact the newest stands, and of one version the last.
   */
  async mark(tx: Transaction, marks: readonly ContactMark[]): Promise<void> {
    if (marks.length === 0) return;
    const newest = new Map<string, ContactMark>();
    for (const mark of marks) {
      const known = newest.get(contactKey(mark));
      if (!known || known.version <= mark.version) newest.set(contactKey(mark), mark);
    }
    const rows = [...newest.values()];
    await tx.query(MARK, [
      rows.map(({ organizationId }) => organizationId),
      rows.map(({ id }) => id),
      rows.map(({ version }) => version),
      rows.map(({ state }) => state),
      rows.map(({ mergedInto }) => mergedInto),
    ]);
  }

  /** The contacts behind ids, merges followed to the survivor; by {@link contactKey} of the id asked for. */
  async resolve(tx: Transaction, refs: readonly ContactRef[]): Promise<Map<string, Contact>> {
    if (refs.length === 0) return new Map();
    const rows = await tx.prepared<Row>(RESOLVE, [
      refs.map(({ organizationId }) => organizationId),
      refs.map(({ id }) => id),
    ]);
    return new Map(
      rows.map((row) => [contactKey({ organizationId: row.organization_id, id: row.asked }), toContact(row)]),
    );
  }

  /** The ids, active or not, of the contacts that had these external ids last. */
  async idsByExternalId(tx: Transaction, externalIds: readonly string[]): Promise<Map<string, string>> {
    if (externalIds.length === 0) return new Map();
    const rows = await tx.prepared<{ external_id: string; id: string }>(BY_EXTERNAL_ID, [
      tx.organizationId,
      externalIds,
    ]);
    return new Map(rows.map((row) => [row.external_id, row.id]));
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

  /** Of these, by {@link contactKey}, those that have been erased. */
  async erased(tx: Transaction, refs: readonly ContactRef[]): Promise<Set<string>> {
    if (refs.length === 0) return new Set();
    const rows = await tx.query<{ organization_id: string; id: string }>(ERASED, [
      refs.map(({ organizationId }) => organizationId),
      refs.map(({ id }) => id),
    ]);
    return new Set(rows.map(({ organization_id: organizationId, id }) => contactKey({ organizationId, id })));
  }

  /** The first step of an erasure: no longer anybody's recipient. Who was merged leads to who is closed. */
  async close(tx: Transaction, ids: readonly string[]): Promise<void> {
    await tx.query(CLOSE, [tx.organizationId, ids]);
  }

  /** Leaves nothing of contacts but their ids, so that nothing told later brings them back. */
  async erase(tx: Transaction, ids: readonly string[]): Promise<void> {
    await tx.query(ERASE, [tx.organizationId, ids]);
  }

  /** A survivor with everyone merged into it: whose sends stand in its timeline. A merged id means its survivor. */
  async family(tx: Transaction, id: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(FAMILY, [tx.organizationId, id]);
    return rows.map((row) => row.id);
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
  const { id, external_id, email, phone, first_name, last_name, locale, timezone, country, attributes } = row;
  return {
    organizationId: row.organization_id,
    id,
    version: Number(row.version),
    state: row.state,
    mergedInto: row.merged_into,
    profile: { id, external_id, email, phone, first_name, last_name, locale, timezone, country, attributes },
  };
}
