import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import {
  ARCHIVED,
  BY_HAND,
  REQUEST_COLUMNS,
  requestEvent,
  type RequestType,
  type SubjectRequestRow,
} from './subject-request.row.js';

const listOf = (types: readonly RequestType[]): string => types.map((type) => `'${type}'`).join();
const OF_PERSON = 'organization_id = $1 AND contact_id = ANY($2::uuid[])';
const CHANGED = `updated_at = greatest($3, updated_at + interval '1 ms')`;

/** With their pieces. Whoever is writing one waits here, or finds it gone. */
const DROP = `
  DELETE FROM subject_archives
   WHERE organization_id = $1 AND subject_request_id IN (
           SELECT id FROM subject_requests WHERE ${OF_PERSON} AND type IN (${listOf(ARCHIVED)}))`;

/** Whatever was written about the person; of erasures that are open it goes with the steps of the one that ends. */
const FORGET = `
  UPDATE subject_requests
     SET note = NULL, verification_reference = NULL, rejection_detail = NULL, corrections = NULL, outcome = NULL, ${CHANGED}
   WHERE ${OF_PERSON} AND NOT (type = 'erasure' AND state IN ('verifying', 'in_progress'))
     AND num_nonnulls(note, verification_reference, rejection_detail, corrections, outcome) > 0`;

const REJECT = `
  UPDATE subject_requests
     SET state = 'rejected', rejection_ground = 'other', rejection_detail = $4, completed_at = $3, ${CHANGED}
   WHERE ${OF_PERSON}
     AND (state = 'in_progress' AND type IN (${listOf(ARCHIVED)})
          OR state IN ('verifying', 'in_progress') AND type IN (${listOf(BY_HAND)}))
  RETURNING ${REQUEST_COLUMNS}`;

const EXPIRE = `
  UPDATE subject_requests SET result_expires_at = least(result_expires_at, $3), ${CHANGED}
   WHERE ${OF_PERSON} AND state = 'completed' AND type IN (${listOf(ARCHIVED)})`;

/** What becomes of a person's requests and archives when they are erased, or their contact is purged. */
@Injectable()
export class RequestsEnd {
  constructor(
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * In the transaction that begins the erasure: no archive of theirs is left, nothing that is under way goes on, and
   * what was written about them in other requests is gone.
   */
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
    await tx.query(FORGET, [tx.organizationId, contactIds, now]);
    const rejected = await tx.query<SubjectRequestRow>(REJECT, [tx.organizationId, contactIds, now, why]);
    await tx.query(EXPIRE, [tx.organizationId, contactIds, now]);
    await this.outbox.append(
      tx,
      rejected.map((row) => requestEvent(tx.organizationId, row, 'rejected')),
    );
  }
}
