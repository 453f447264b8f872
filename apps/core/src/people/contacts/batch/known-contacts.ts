import { texts, uuids, WriteConflict, type Transaction } from '@customer-platform/database';
import { In } from 'typeorm';
import type { Identifier } from '../../../blocklist/erased-identifiers.js';
import { Contact } from '../contact.entity.js';
import { keyOf } from './batch-row.js';

/** An identity, and whose it is. */
export interface OwnedIdentity {
  readonly id: string;
  readonly contactId: string;
  readonly type: string;
  readonly value: string;
  readonly normal: string;
  /** Its owner is soft-deleted, and yields it. */
  readonly deleted: boolean;
  /** Whether the database has it. */
  readonly stored: boolean;
}

const COLUMNS = `i.id, i.contact_id AS "contactId", i.type, i.value, i.normal_value AS normal`;

/** Row by row, however few rows the planner takes the table to have. */
const OWNERS = `
  SELECT ${COLUMNS}, contact.deleted_at IS NOT NULL AS deleted, true AS stored
    FROM unnest($2::text[], $3::text[]) AS wanted (type, normal_value),
         LATERAL (SELECT * FROM identities
                   WHERE organization_id = $1 AND type = wanted.type AND normal_value = wanted.normal_value
                     AND yielded_at IS NULL OFFSET 0) AS i,
         LATERAL (SELECT deleted_at FROM contacts WHERE organization_id = $1 AND id = i.contact_id OFFSET 0) AS contact`;

const HELD = `
  SELECT ${COLUMNS}, false AS deleted, true AS stored
    FROM unnest($2::uuid[]) AS contact (id),
         LATERAL (SELECT * FROM identities
                   WHERE organization_id = $1 AND contact_id = contact.id AND yielded_at IS NULL OFFSET 0) AS i`;

const NATIONAL_IDS = `
  SELECT contact.id, wanted.type, wanted.index
    FROM unnest($2::text[], $3::text[]) AS wanted (type, index),
         LATERAL (SELECT id FROM contacts
                   WHERE organization_id = $1 AND national_id_type = wanted.type AND national_id_index = wanted.index
                     AND deleted_at IS NULL AND merged_into IS NULL OFFSET 0) AS contact`;

/** A national id as it is looked for. */
export interface SoughtNationalId {
  readonly type: string;
  readonly index: string;
}

/** What a batch knows of contacts that are there, and of those it has made so far. */
export class KnownContacts {
  readonly owners = new Map<string, OwnedIdentity>();
  readonly contacts = new Map<string, Contact>();
  private readonly asked = new Set<string>();
  private readonly held = new Map<string, OwnedIdentity[]>();
  private readonly nationalIds = new Map<string, string>();

  /** Whose these are. What was asked once is not asked again: the batch may have given it away since. */
  async findOwners(tx: Transaction, identifiers: readonly Identifier[]): Promise<void> {
    const sought = [...new Map(identifiers.map((each) => [keyOf(each), each])).values()];
    const unknown = sought.filter((each) => !this.asked.has(keyOf(each)));
    if (unknown.length === 0) return;
    for (const each of unknown) this.asked.add(keyOf(each));
    const rows = await tx.prepared<OwnedIdentity>(OWNERS, [
      tx.organizationId,
      texts(unknown.map(({ type }) => type)),
      texts(unknown.map(({ normal }) => normal)),
    ]);
    for (const row of rows) this.owners.set(keyOf(row), row);
  }

  async findNationalIds(tx: Transaction, sought: readonly SoughtNationalId[]): Promise<void> {
    if (sought.length === 0) return;
    const rows = await tx.prepared<SoughtNationalId & { id: string }>(NATIONAL_IDS, [
      tx.organizationId,
      texts(sought.map(({ type }) => type)),
      texts(sought.map(({ index }) => index)),
    ]);
    for (const { id, type, index } of rows) this.nationalIds.set(`${type} ${index}`, id);
  }

  /**
   * Locks the contacts that rows may change, in the order in which events lock them, and reads all of them.
   * @throws WriteConflict when one was merged, deleted, purged or erased since its identity was read
   */
  async lock(tx: Transaction, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { organizationId } = tx;
    const rows = await tx.manager.find(Contact, {
      where: { organizationId, id: In([...ids]) },
      order: { id: 'ASC' },
      lock: { mode: 'for_no_key_update' },
    });
    const live = rows.filter(({ mergedInto, deletedAt, erasedAt }) => !mergedInto && !deletedAt && !erasedAt);
    if (live.length !== ids.length)
      throw new WriteConflict('A contact was merged, deleted or erased meanwhile');
    for (const row of live) this.contacts.set(row.id, row);
    for (const own of await tx.prepared<OwnedIdentity>(HELD, [organizationId, uuids(ids)])) this.add(own);
    const strayed = [...this.owners.values()].some(
      (own) => own.stored && this.contacts.has(own.contactId) && !this.heldBy(own.contactId).includes(own),
    );
    // Between the reading of the owners and the lock an identity went away.
    if (strayed) throw new WriteConflict('An identity was given up meanwhile');
  }

  heldBy(contactId: string): readonly OwnedIdentity[] {
    return this.held.get(contactId) ?? [];
  }

  add(identity: OwnedIdentity): void {
    this.asked.add(keyOf(identity));
    this.owners.set(keyOf(identity), identity);
    const held = this.held.get(identity.contactId) ?? [];
    held.push(identity);
    this.held.set(identity.contactId, held);
  }

  remove(identity: OwnedIdentity): void {
    this.owners.delete(keyOf(identity));
    const held = this.held.get(identity.contactId)?.filter(({ id }) => id !== identity.id) ?? [];
    this.held.set(identity.contactId, held);
  }

  ownerOfNationalId(contact: Contact): string | undefined {
    const key = nationalKey(contact);
    return key === undefined ? undefined : this.nationalIds.get(key);
  }

  moveNationalId(before: Contact | undefined, after: Contact): void {
    const [had, has] = [before && nationalKey(before), nationalKey(after)];
    if (had !== undefined && had !== has) this.nationalIds.delete(had);
    if (has !== undefined) this.nationalIds.set(has, after.id);
  }
}

function nationalKey({ nationalIdType: type, nationalIdIndex: index }: Contact): string | undefined {
  return type === null || index === null ? undefined : `${type} ${index}`;
}
