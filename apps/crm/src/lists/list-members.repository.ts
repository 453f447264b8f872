import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';

/** Who adds members, and when. */
interface Adding {
  readonly at: Date;
  readonly byType: string;
  readonly byId: string;
}

const ADD = `
  INSERT INTO list_members
    (organization_id, list_id, origin_contact_id, contact_id, shown, added_at, added_by_type, added_by_id)
  SELECT $1, $2, given.id, given.id, true, $4, $5, $6 FROM unnest($3::uuid[]) AS given (id)
   WHERE NOT EXISTS (SELECT 1 FROM list_members AS there
                      WHERE there.organization_id = $1 AND there.list_id = $2 AND there.contact_id = given.id)
  RETURNING contact_id`;

const REMOVE = `
  DELETE FROM list_members WHERE organization_id = $1 AND list_id = $2 AND contact_id = ANY($3::uuid[])
  RETURNING contact_id, shown`;

const COUNT = 'UPDATE lists SET member_count = member_count + $3 WHERE organization_id = $1 AND id = $2';

/** The table `list_members`. Whoever writes it has locked the list: so `member_count` is exact. */
@Injectable()
export class ListMembersRepository {
  /** Adds contacts that are not there yet, each given once; answers which they are. */
  async add(
    tx: Transaction,
    listId: string,
    contactIds: readonly string[],
    { at, byType, byId }: Adding,
  ): Promise<Set<string>> {
    const parameters = [tx.organizationId, listId, contactIds, at, byType, byId];
    const rows = await tx.query<{ contact_id: string }>(ADD, parameters);
    return new Set(rows.map((row) => row.contact_id));
  }

  /** Removes contacts, with what merges have brought under their id; answers who were there. */
  async remove(tx: Transaction, listId: string, contactIds: readonly string[]): Promise<string[]> {
    const rows = await tx.query<{ contact_id: string; shown: boolean }>(REMOVE, [
      tx.organizationId,
      listId,
      contactIds,
    ]);
    return rows.filter(({ shown }) => shown).map((row) => row.contact_id);
  }

  /** Moves `member_count` by what was added or removed. */
  async recount(tx: Transaction, listId: string, difference: number): Promise<void> {
    await tx.query(COUNT, [tx.organizationId, listId, difference]);
  }

  /** Removes every member of a list that is about to go. */
  async removeAll(tx: Transaction, listId: string): Promise<void> {
    await tx.query('DELETE FROM list_members WHERE organization_id = $1 AND list_id = $2', [
      tx.organizationId,
      listId,
    ]);
  }
}
