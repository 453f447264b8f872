import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { REQUEST_COLUMNS, requestEvent, type SubjectRequestRow } from '../subject-request.row.js';

const OF_PERSON = `organization_id = $1 AND contact_id = ANY($2::uuid[]) AND type IN ('access', 'portability')`;
const CHANGED = `note = NULL, verification_reference = NULL, updated_at = greatest($3, updated_at + interval '1 ms')`;

/** With their pieces. Whoever is writing one waits here, or finds it gone. */
const DROP = `
  DELETE FROM subject_archives
   WHERE organization_id = $1 AND subject_request_id IN (SELECT id FROM subject_requests WHERE ${OF_PERSON})`;

const REJECT = `
  UPDATE subject_requests
     SET state = 'rejected', rejection_ground = 'other', rejection_detail = $4, completed_at = $3,
         ${CHANGED}
   WHERE ${OF_PERSON} AND state = 'in_progress' RETURNING ${REQUEST_COLUMNS}`;

const EXPIRE = `
  UPDATE subject_requests SET result_expires_at = least(result_expires_at, $3), ${CHANGED}
   WHERE ${OF_PERSON} AND state = 'completed'`;

/** What becomes of a person's archives when they are erased, or their contact is purged. */
@Injectable()
export class ArchiveEnd {
  constructor(
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** In the transaction that begins the erasure: no archive of theirs is left, and none that is under way goes on. */
  ofErased(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    return this.end(tx, contactIds, 'The person was erased.');
  }

  /** Likewise, in the transaction of the purge. */
  ofPurged(tx: Transaction, contactId: string): Promise<void> {
    return this.end(tx, [contactId], 'The contact was purged.');
  }

  private async end(tx: Transaction, contactIds: readonly string[], why: string): Promise<void> {
    const now = this.clock.now();
    await tx.query(DROP, [tx.organizationId, contactIds]);
    const rejected = await tx.query<SubjectRequestRow>(REJECT, [tx.organizationId, contactIds, now, why]);
    await tx.query(EXPIRE, [tx.organizationId, contactIds, now]);
    await this.outbox.append(
      tx,
      rejected.map((row) => requestEvent(tx.organizationId, row, 'rejected')),
    );
  }
}
