import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';

const ERASE = `
  UPDATE campaign_members SET contact_id = NULL,
         state = CASE state WHEN 'pending' THEN 'skipped' ELSE state END,
         reason = CASE state WHEN 'pending' THEN 'erased' ELSE reason END
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) RETURNING 1`;

/** Takes a person out of the audiences of campaigns; that somebody was in them stays, and the counts with it. */
@Injectable()
export class ErasedMembers {
  /** @returns in how many audiences the person was */
  async erase(tx: Transaction, contactIds: readonly string[]): Promise<number> {
    const rows = await tx.query(ERASE, [tx.organizationId, contactIds]);
    return rows.length;
  }
}
