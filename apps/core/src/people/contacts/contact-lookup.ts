import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { turns, type FilterValue, type ListFilter, type ListQuery } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { Contact } from './contact.entity.js';
import { STATE_COLUMNS, stateOf } from '../../vocabulary/contacts/shared-contact.js';

const SURVIVORS = `
  WITH RECURSIVE chain AS (
    SELECT id AS asked, merged_into AS id FROM contacts
     WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND merged_into IS NOT NULL
    UNION
    SELECT chain.asked, next.merged_into FROM chain JOIN contacts AS next ON next.id = chain.id
     WHERE next.organization_id = $1 AND next.merged_into IS NOT NULL)
  SELECT asked, chain.id AS survivor FROM chain JOIN contacts AS last ON last.id = chain.id
   WHERE last.organization_id = $1 AND last.merged_into IS NULL`;

const STANDING = `
  SELECT id, ${STATE_COLUMNS} FROM contacts WHERE organization_id = $1 AND id = $2`;

/** Its own id, first, and those of all that were merged into it, one into another; how each stands. */
const STANDING_FAMILY = `
  WITH RECURSIVE family AS (
    SELECT id, merged_into, deleted_at, erased_at, 0 AS step FROM contacts WHERE organization_id = $1 AND id = $2
    UNION
    SELECT merged.id, merged.merged_into, merged.deleted_at, merged.erased_at, family.step + 1
      FROM contacts AS merged JOIN family ON merged.merged_into = family.id
     WHERE merged.organization_id = $1)
  SELECT id, ${STATE_COLUMNS} FROM family ORDER BY step`;

/** Its own id, and those of all that were merged into it, one into another. */
const FAMILY = `
  WITH RECURSIVE family AS (
    SELECT id FROM contacts WHERE organization_id = $1 AND id = $2
    UNION
    SELECT merged.id FROM contacts AS merged JOIN family ON merged.merged_into = family.id
     WHERE merged.organization_id = $1)
  SELECT id FROM family`;

const FAMILIES = `
  WITH RECURSIVE family AS (
    SELECT id AS holder, id FROM unnest($2::uuid[]) AS id
    UNION
    SELECT family.holder, merged.id FROM contacts AS merged JOIN family ON merged.merged_into = family.id
     WHERE merged.organization_id = $1)
  SELECT holder, array_agg(id) AS ids FROM family GROUP BY holder`;

/** Each is a merge or an undo that committed since the contact was looked at. */
const HOLDER_TURNS = 10;

/** The state of a contact. */
export type Standing = Pick<Contact, 'id' | 'mergedInto' | 'deletedAt' | 'erasedAt'>;

/** A contact named in a path: the ids under which its history stands, or the survivor to go to. */
type PathContact = { readonly ids: readonly string[] } | { readonly survivorId: string };

/** Reads a merged contact's id as its survivor's. */
@Injectable()
export class ContactLookup {
  /**
   * The contact of a path that is read, soft-deleted or not.
   * @throws Problem `not_found` for one that never was, of another organization, or erased
   */
  async read(tx: Transaction, id: string): Promise<PathContact> {
    const family = await this.standingFamily(tx, id);
    const contact = demandStanding(family[0]);
    if (contact.mergedInto) return { survivorId: await this.survivorOf(tx, contact.mergedInto) };
    return { ids: family.map((member) => member.id) };
  }

  /** Its own state first, then those of all that were merged into it; nothing for one that is not there. */
  standingFamily(tx: Transaction, id: string): Promise<Standing[]> {
    return tx.prepared<Standing>(STANDING_FAMILY, [tx.organizationId, id]);
  }

  /** Its own id, and those of all that were merged into it, one into another. */
  async familyOf(tx: Transaction, id: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(FAMILY, [tx.organizationId, id]);
    return rows.map((row) => row.id);
  }

  /** The same of each of these. */
  async familiesOf(tx: Transaction, ids: readonly string[]): Promise<Map<string, string[]>> {
    if (ids.length === 0) return new Map();
    const rows = await tx.query<{ holder: string; ids: string[] }>(FAMILIES, [tx.organizationId, ids]);
    return new Map(rows.map((row) => [row.holder, row.ids]));
  }

  /**
   * The same, locked until the transaction ends, so that nobody changes, merges or removes it meanwhile.
   * @throws Problem `not_found`, `contact_merged` with `survivor_id`, `resource_deleted`
   */
  async lockForWrite(tx: Transaction, id: string): Promise<readonly string[]> {
    const contact = await standing(tx, id, 'FOR NO KEY UPDATE');
    if (contact.mergedInto) {
      const survivor = await this.survivorOf(tx, contact.mergedInto);
      throw new Problem('contact_merged', { members: { survivor_id: survivor } });
    }
    if (contact.deletedAt) throw new Problem('resource_deleted');
    return this.familyOf(tx, id);
  }

  /**
   * Whoever has the history of this id now, locked: the contact itself or its survivor, soft-deleted or not.
   * Undefined for one that was erased.
   * @throws Problem `dependency_unavailable` when it keeps being merged and parted
   */
  async lockHolder(
    tx: Transaction,
    id: string,
  ): Promise<{ contactId: string; ids: readonly string[] } | undefined> {
    for await (const _ of turns({ most: HOLDER_TURNS })) {
      const contactId = await this.survivorOf(tx, id);
      const [contact] = await tx.query<Standing>(`${STANDING} FOR NO KEY UPDATE`, [
        tx.organizationId,
        contactId,
      ]);
      // A merge or an undo in the moment before the lock: somebody else has it.
      if ((await this.survivorOf(tx, id)) !== contactId) continue;
      if (!contact || stateOf(contact) === 'erased') return undefined;
      return { contactId, ids: await this.familyOf(tx, contactId) };
    }
    const detail = 'The contact keeps being merged; try again shortly.';
    throw new Problem('dependency_unavailable', { detail });
  }

  /** Where the merges of a contact end: itself if it is not merged. */
  async survivorOf(tx: Transaction, id: string): Promise<string> {
    let survivor = id;
    const seen = new Set<string>();
    // eslint-disable-next-line house/no-endless-turns -- it ends behind the last of the merges, each of which is followed once
    while (!seen.has(survivor)) {
      seen.add(survivor);
      const [row] = await tx.query<Standing>(STANDING, [tx.organizationId, survivor]);
      survivor = row?.mergedInto ?? survivor;
    }
    return survivor;
  }

  /** Of ids among these that were merged, whose they are now. */
  async survivorsOf(tx: Transaction, ids: readonly unknown[]): Promise<Map<string, string>> {
    const rows = await tx.query<{ asked: string; survivor: string }>(SURVIVORS, [tx.organizationId, ids]);
    return new Map(rows.map(({ asked, survivor }) => [asked, survivor]));
  }

  /**
   * As {@link resolveFilters}, for rows that stay under the id that the contact had then: a value means the whole family
   * of the survivor.
   */
  async resolveToFamilies(tx: Transaction, query: ListQuery): Promise<ListQuery> {
    const resolved = await this.resolveFilters(tx, tx.organizationId, query);
    const filters: ListFilter[] = [];
    for (const filter of resolved.filters) {
      if (filter.field !== 'contact_id' || (filter.op !== 'eq' && filter.op !== 'in')) {
        filters.push(filter);
        continue;
      }
      const families = new Set<FilterValue>(filter.values);
      for (const value of filter.values)
        for (const id of await this.familyOf(tx, String(value))) families.add(id);
      filters.push({ ...filter, op: 'in', values: [...families] });
    }
    return { ...resolved, filters };
  }

  /** The list request with the values of `contact_id` filters replaced by their survivors (core.md, its head). */
  async resolveFilters(tx: Transaction, organizationId: string, query: ListQuery): Promise<ListQuery> {
    const named = query.filters.filter(({ field, op }) => field === 'contact_id' && op !== 'is_null');
    if (named.length === 0) return query;
    const ids = named.flatMap(({ values }) => values);
    const rows = await tx.query<{ asked: string; survivor: string }>(SURVIVORS, [organizationId, ids]);
    if (rows.length === 0) return query;
    const survivors = new Map<FilterValue, FilterValue>(rows.map(({ asked, survivor }) => [asked, survivor]));
    const filters = query.filters.map((filter) => {
      if (!named.includes(filter)) return filter;
      const values = filter.values.map((value) => survivors.get(value) ?? value);
      return { ...filter, values, value: values[0] ?? filter.value };
    });
    return { ...query, filters };
  }
}

async function standing(tx: Transaction, id: string, lock: string): Promise<Standing> {
  const [contact] = await tx.query<Standing>(`${STANDING} ${lock}`, [tx.organizationId, id]);
  return demandStanding(contact);
}

function demandStanding(contact: Standing | undefined): Standing {
  if (!contact || stateOf(contact) === 'erased') throw new Problem('not_found');
  return contact;
}
