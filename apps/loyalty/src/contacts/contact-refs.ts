import { Inject, Injectable } from '@nestjs/common';
import {
  bigints,
  byteas,
  type OrganizationScope,
  texts,
  type Transaction,
  uuids,
} from '@customer-platform/database';
import { LEDGER_KEY } from '../ledger-key.js';
import { contactHash } from '../earning/rule-event-hash.js';

/** A contact's state as core tells it. */
export interface ContactState {
  id: string;
  state: 'active' | 'merged' | 'deleted' | 'purged';
  mergedInto: string | null;
  version: number;
}

/** Where the merges of a contact end, as far as loyalty knows. */
export interface ChainEnd {
  /** The contact itself if it is not merged; the last survivor known by name. */
  id: string;
  /** Undefined: nothing is known of it yet. */
  state: ContactState['state'] | undefined;
  erased: boolean;
}

/**
 * An older version never overwrites a newer, for events can come again; and nothing brings an erased contact back.
 */
const FOLLOW = `
  INSERT INTO contact_refs (organization_id, id, state, merged_into, version)
  SELECT DISTINCT ON (organization_id, id) organization_id, id, state, merged_into, version
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::bigint[], $6::bytea[])
         AS given (organization_id, id, state, merged_into, version, hash)
   WHERE NOT EXISTS (SELECT 1 FROM erased_contacts AS erased
                      WHERE erased.organization_id = given.organization_id AND erased.contact_hash = given.hash)
   ORDER BY organization_id, id, version DESC
  ON CONFLICT (organization_id, id) DO UPDATE
    SET state = excluded.state, merged_into = excluded.merged_into, version = excluded.version
  WHERE contact_refs.version < excluded.version`;

/** Core merges at most 100 into one; a longer chain would be a circle. */
const LONGEST_CHAIN = 200;

const ENDS = `
  WITH RECURSIVE chain AS (
    SELECT asked.id AS asked, asked.hash, asked.id, ref.state, ref.merged_into, 0 AS depth
      FROM unnest($2::uuid[], $3::bytea[]) AS asked (id, hash)
      LEFT JOIN contact_refs ref ON ref.organization_id = $1 AND ref.id = asked.id
    UNION ALL
    SELECT chain.asked, chain.hash, chain.merged_into, ref.state, ref.merged_into, depth + 1
      FROM chain LEFT JOIN contact_refs ref ON ref.organization_id = $1 AND ref.id = chain.merged_into
     WHERE chain.state = 'merged' AND depth < ${LONGEST_CHAIN})
  SELECT DISTINCT ON (asked) asked, id, state, erased.contact_hash IS NOT NULL AS erased
    FROM chain LEFT JOIN erased_contacts erased ON erased.organization_id = $1 AND erased.contact_hash = chain.hash
   ORDER BY asked, depth DESC`;

/** Not FOR SHARE: sharers that keep coming would hold up a merge or an erasure for as long as they come. */
const KEEP_ACTIVE = `
  SELECT id FROM contact_refs
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND state = 'active' ORDER BY id FOR NO KEY UPDATE`;

interface EndRow {
  asked: string;
  id: string;
  state: ContactState['state'] | null;
  erased: boolean;
}

/** The contacts whose merges end at one of these, and these themselves. */
const MERGED_INTO = `
  WITH RECURSIVE chain AS (
    SELECT id, 0 AS depth FROM unnest($2::uuid[]) AS given (id)
    UNION
    SELECT ref.id, depth + 1 FROM chain
      JOIN contact_refs ref ON ref.organization_id = $1 AND ref.merged_into = chain.id
     WHERE depth < ${LONGEST_CHAIN})
  SELECT DISTINCT id FROM chain`;

/** An erasure was done while points of its contact were being written: to be begun anew, when it is seen. */
export class ErasedMeanwhile extends Error {
  constructor() {
    super('A contact was erased while points of it were being written');
    this.name = 'ErasedMeanwhile';
  }
}

/** What loyalty knows of contacts, followed from core's events. */
@Injectable()
export class ContactRefs {
  constructor(@Inject(LEDGER_KEY) private readonly key: string) {}

  /** Takes over the states of contacts of the transaction's organization. */
  async follow(tx: Transaction, contacts: readonly ContactState[]): Promise<void> {
    const { organizationId } = tx;
    await this.followAll(
      tx,
      contacts.map((contact) => ({ ...contact, organizationId })),
    );
  }

  /** As `follow`, of several organizations in a worker's transaction. */
  async followAll(
    tx: Transaction,
    contacts: readonly (ContactState & { organizationId: string })[],
  ): Promise<void> {
    if (contacts.length === 0) return;
    await tx.prepared(FOLLOW, [
      uuids(contacts.map(({ organizationId }) => organizationId)),
      uuids(contacts.map(({ id }) => id)),
      texts(contacts.map(({ state }) => state)),
      uuids(contacts.map(({ mergedInto }) => mergedInto)),
      bigints(contacts.map(({ version }) => version)),
      byteas(contacts.map((contact) => this.hashOf(contact, contact.id))),
    ]);
  }

  /**
   * Forgets erased contacts, and those that were merged into them, but for a keyed hash of each, so that nothing
   * re-creates them.
   */
  async forget(tx: Transaction, ids: readonly string[]): Promise<void> {
    const rows = await tx.query<{ id: string }>(MERGED_INTO, [tx.organizationId, [...new Set(ids)]]);
    const sorted = rows.map(({ id }) => id).sort();
    await tx.query(
      `INSERT INTO erased_contacts (organization_id, contact_hash) SELECT $1, unnest($2::bytea[]) ON CONFLICT DO NOTHING`,
      [tx.organizationId, sorted.map((id) => this.hashOf(tx, id))],
    );
    await tx.query('DELETE FROM contact_refs WHERE organization_id = $1 AND id = ANY($2::uuid[])', [
      tx.organizationId,
      sorted,
    ]);
  }

  /**
   * Asked by whoever writes points, once it holds the subjects' locks: an erasure takes the same locks, so that it is
   * either seen here or sees what is written.
   * @throws ErasedMeanwhile
   */
  async demandNotErased(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    const rows = await tx.query(
      'SELECT 1 FROM erased_contacts WHERE organization_id = $1 AND contact_hash = ANY($2::bytea[]) LIMIT 1',
      [tx.organizationId, byteas([...new Set(contactIds)].map((id) => this.hashOf(tx, id)))],
    );
    if (rows.length > 0) throw new ErasedMeanwhile();
  }

  /** Where each of the contacts ends; every id asked has an answer. */
  async ends(tx: Transaction, contactIds: readonly string[]): Promise<Map<string, ChainEnd>> {
    const ids = [...new Set(contactIds)];
    const hashes = byteas(ids.map((id) => this.hashOf(tx, id)));
    const rows = await tx.query<EndRow>(ENDS, [tx.organizationId, uuids(ids), hashes]);
    const erased = await this.erasedOf(
      tx,
      rows.filter(({ asked, id, state }) => id !== asked && state === null).map(({ id }) => id),
    );
    return new Map(
      rows.map((row) => [
        row.asked,
        { id: row.id, state: row.state ?? undefined, erased: row.erased || erased.has(row.id) },
      ]),
    );
  }

  /** Which of them are erased; a survivor may be while whoever was merged into it is not yet. */
  private async erasedOf(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const byHash = new Map(ids.map((id) => [this.hashOf(tx, id).toString('hex'), id]));
    const rows = await tx.query<{ hash: string }>(
      `SELECT encode(contact_hash, 'hex') AS hash FROM erased_contacts
        WHERE organization_id = $1 AND contact_hash = ANY($2::bytea[])`,
      [tx.organizationId, [...byHash.keys()].map((hash) => Buffer.from(hash, 'hex'))],
    );
    return new Set(rows.map(({ hash }) => byHash.get(hash) as string));
  }

  /**
   * Keeps active contacts from being merged, deleted or erased here until the transaction ends. Answers those that
   * are, also after waiting for whoever changes them.
   */
  async keepActive(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const rows = await tx.query<{ id: string }>(KEEP_ACTIVE, [tx.organizationId, uuids([...new Set(ids)])]);
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Who earns for a contact: itself, or its survivor; nobody for one that is soft-deleted, purged or erased. One that
   * is not known yet earns: core tells of a contact before it tells of its events. Whoever earns stays active and
   * unmerged until the transaction ends, so that no merge passes what is posted.
   */
  async keepEarners(tx: Transaction, contactIds: readonly string[]): Promise<Map<string, string>> {
    const earners = new Map<string, string>();
    for (let open = [...new Set(contactIds)]; open.length > 0;) {
      const ends = await this.ends(tx, open);
      await this.introduce(tx, [...ends.values()]);
      const candidates = [...ends].filter(([, end]) => earns(end));
      const kept = await this.keepActive(
        tx,
        candidates.map(([, { id }]) => id),
      );
      for (const [asked, { id }] of candidates) if (kept.has(id)) earners.set(asked, id);
      // Changed since it was looked at: what it stands for now decides. Every turn is a change that committed.
      open = candidates.flatMap(([asked, { id }]) => (kept.has(id) ? [] : [asked]));
    }
    return earners;
  }

  /** Notes contacts that nothing is known of, below every version of core's, so that there is a row to lock. */
  private async introduce(tx: Transaction, ends: readonly ChainEnd[]): Promise<void> {
    const unknown = ends.filter(({ state, erased }) => state === undefined && !erased);
    if (unknown.length === 0) return;
    await this.follow(
      tx,
      unknown.map(({ id }) => ({ id, state: 'active', mergedInto: null, version: 0 })),
    );
  }

  private hashOf({ organizationId }: OrganizationScope, id: string): Buffer {
    return contactHash(this.key, organizationId, id);
  }
}

const earns = ({ state, erased }: ChainEnd): boolean =>
  !erased && (state === undefined || state === 'active');
