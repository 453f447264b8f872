import { concerns, writtenOn, type ContactRows } from '@customer-platform/contact-refs';
import type { Transaction } from '@customer-platform/database';

const OF_CONTACTS = 'organization_id = $1 AND contact_id = ANY($2::uuid[])';
const ORIGINS = `SELECT DISTINCT origin_contact_id AS origin FROM list_members
   WHERE organization_id = $1 AND ${concerns('$2')}`;
const LISTS = `
  SELECT id FROM lists
   WHERE organization_id = $1 AND id IN (SELECT list_id FROM list_members WHERE ${OF_CONTACTS})
   ORDER BY id FOR UPDATE`;

/** Hidden while it moves: of two that meet, the next steps decide which is shown. */
const MOVE = `
  UPDATE list_members SET contact_id = given.to_id, shown = false
    FROM unnest($3::uuid[], $4::uuid[]) AS given (origin, to_id)
   WHERE organization_id = $1 AND ${concerns('$2')}
     AND origin_contact_id = given.origin AND contact_id <> given.to_id`;

const HOLDERS = `
  SELECT DISTINCT contact_id AS id FROM list_members WHERE organization_id = $1 AND ${concerns('$2')}`;
const ERASE = `DELETE FROM list_members WHERE organization_id = $1 AND ${writtenOn('$2')} RETURNING shown`;

const CONCERNED = `
  member.organization_id = $1 AND member.list_id = ANY($2::uuid[]) AND member.contact_id = ANY($3::uuid[])`;
const HAS_EARLIER = `EXISTS (
  SELECT 1 FROM list_members AS earlier
   WHERE earlier.organization_id = $1 AND earlier.list_id = member.list_id AND earlier.contact_id = member.contact_id
     AND (earlier.added_at, earlier.origin_contact_id) < (member.added_at, member.origin_contact_id))`;
const HIDE = `UPDATE list_members AS member SET shown = false WHERE ${CONCERNED} AND shown AND ${HAS_EARLIER}`;
const SHOW = `UPDATE list_members AS member SET shown = true WHERE ${CONCERNED} AND NOT shown AND NOT ${HAS_EARLIER}`;

const SHOWN = `
  SELECT list_id, count(*)::int AS count FROM list_members AS member WHERE ${CONCERNED} AND shown GROUP BY list_id`;
const RECOUNT = `
  UPDATE lists SET member_count = member_count + given.difference
    FROM unnest($2::uuid[], $3::int[]) AS given (id, difference)
   WHERE organization_id = $1 AND lists.id = given.id AND given.difference <> 0`;

/**
 * Memberships as rows that belong to contacts. Of a double membership the earlier is shown and counted, whichever
 * contact it came from; the undo of the merge parts the two, and both are what they were.
 */
export const LIST_MEMBER_ROWS: ContactRows = {
  resource: 'list-members',
  origins: async (tx, contactIds) => {
    const rows = await tx.query<{ origin: string }>(ORIGINS, [tx.organizationId, contactIds]);
    return rows.map(({ origin }) => origin);
  },
  move: async (tx, contactIds, moves) => {
    const holders = await holdersOf(tx, contactIds);
    const concerned = [...new Set([...holders, ...moves.map(({ to }) => to)])];
    await recounting(tx, holders, concerned, async (lists) => {
      const origins = moves.map(({ origin }) => origin);
      await tx.query(MOVE, [tx.organizationId, contactIds, origins, moves.map(({ to }) => to)]);
      await tx.query(HIDE, [tx.organizationId, lists, concerned]);
      await tx.query(SHOW, [tx.organizationId, lists, concerned]);
    });
  },
  remove: (tx, contactIds) =>
    recounting(tx, contactIds, contactIds, async () => {
      await tx.query(`DELETE FROM list_members WHERE ${OF_CONTACTS}`, [tx.organizationId, contactIds]);
    }),
  erase: async (tx, origins) => {
    const holders = await holdersOf(tx, origins);
    let erased = 0;
    await recounting(tx, holders, holders, async (lists) => {
      const members = await tx.query<{ shown: boolean }>(ERASE, [tx.organizationId, origins]);
      erased = members.filter(({ shown }) => shown).length;
      await tx.query(SHOW, [tx.organizationId, lists, holders]);
    });
    return erased;
  },
};

/** The contacts under whom the rows that concern these stand. */
async function holdersOf(tx: Transaction, contactIds: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(HOLDERS, [tx.organizationId, contactIds]);
  return rows.map(({ id }) => id);
}

/** Locks the lists that hold these contacts, in one order for all, and corrects their counts by what `work` changes. */
async function recounting(
  tx: Transaction,
  contactIds: readonly string[],
  concerned: readonly string[],
  work: (lists: readonly string[]) => Promise<void>,
): Promise<void> {
  const locked = await tx.query<{ id: string }>(LISTS, [tx.organizationId, contactIds]);
  if (locked.length === 0) return;
  const lists = locked.map(({ id }) => id);
  const shown = async (): Promise<Map<string, number>> => {
    const rows = await tx.query<{ list_id: string; count: number }>(SHOWN, [
      tx.organizationId,
      lists,
      concerned,
    ]);
    return new Map(rows.map(({ list_id: id, count }) => [id, count]));
  };
  const before = await shown();
  await work(lists);
  const after = await shown();
  const differences = lists.map((id) => (after.get(id) ?? 0) - (before.get(id) ?? 0));
  await tx.query(RECOUNT, [tx.organizationId, lists, differences]);
}
