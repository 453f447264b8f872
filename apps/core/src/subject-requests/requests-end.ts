import { Injectable } from '@nestjs/common';
import { afterLocks, Clock, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { ContactHooks, type ContactHook, type PartedFamilies } from '../people/contacts/contact-hooks.js';
import { SOURCES } from './archive/archive-sources.js';
import {
  ARCHIVED,
  REQUEST_COLUMNS,
  requestEvent,
  type RequestType,
  type SubjectRequestRow,
} from './subject-request.row.js';

const listOf = (types: readonly RequestType[]): string => types.map((type) => `'${type}'`).join();
const OF_PERSON = 'organization_id = $1 AND contact_id = ANY($2::uuid[])';
const CHANGED = `updated_at = greatest($3, updated_at + interval '1 ms')`;

/** What the platform itself says of a request that it ends: no words about the person. */
const ERASED = 'The person was erased.';
const PURGED = 'The contact was purged.';
const OWN_WORDS = `'${ERASED}', '${PURGED}'`;

/** An erasure that is open: whoever verifies it holds its row before the contacts, so that nobody waits for it here. */
const OPEN_ERASURE = `(type = 'erasure' AND state IN ('verifying', 'in_progress'))`;

/** With their pieces. Whoever is writing one waits here, or finds it gone. */
const DROP = `
  DELETE FROM subject_archives
   WHERE organization_id = $1 AND subject_request_id IN (
           SELECT id FROM subject_requests WHERE ${OF_PERSON} AND type IN (${listOf(ARCHIVED)}))`;

/** Waits for changes that are not committed yet: the statements after it see them, and no other comes between. */
const LOCK = `SELECT 1 FROM subject_requests WHERE ${OF_PERSON} AND NOT ${OPEN_ERASURE} ORDER BY id FOR NO KEY UPDATE`;

/** Whatever was written about the person; of erasures that are open it goes with the steps of the one that ends. */
const FORGET = `
  UPDATE subject_requests
     SET note = NULL, verification_reference = NULL, corrections = NULL, outcome = NULL,
         rejection_detail = CASE WHEN rejection_detail IN (${OWN_WORDS}) THEN rejection_detail END, ${CHANGED}
   WHERE ${OF_PERSON} AND NOT ${OPEN_ERASURE}
     AND (num_nonnulls(note, verification_reference, corrections, outcome) > 0
          OR rejection_detail NOT IN (${OWN_WORDS}))`;

const REJECT = `
  UPDATE subject_requests
     SET state = 'rejected', rejection_ground = 'other', rejection_detail = $4, completed_at = $3, ${CHANGED}
   WHERE ${OF_PERSON} AND state IN ('verifying', 'in_progress') AND type <> 'erasure'
  RETURNING ${REQUEST_COLUMNS}`;

const EXPIRE = `
  UPDATE subject_requests SET result_expires_at = least(result_expires_at, $3), ${CHANGED}
   WHERE ${OF_PERSON} AND state = 'completed' AND type IN (${listOf(ARCHIVED)})
     AND result_expires_at > $3`;

/** With the requests of whoever is not one of these. */
const OF_OTHERS = `
  archive.organization_id = $1 AND request.organization_id = $1 AND request.id = archive.subject_request_id
    AND request.contact_id <> ALL($2::uuid[])`;

/** Whoever is writing one has lost it: it begins again. */
const GATHER_ANEW = `
  UPDATE subject_archives AS archive
     SET contact_ids = ARRAY(SELECT id FROM unnest(archive.contact_ids) AS id WHERE id <> ALL($2::uuid[])),
         step = 'gather', module = $5, after = NULL, pieces = 0, claim = NULL, claimed_until = $4, moved_at = $4
    FROM subject_requests AS request
   WHERE ${OF_OTHERS} AND archive.step <> 'ready'
     AND (archive.contact_ids && $2::uuid[] OR request.contact_id = ANY($3::uuid[]))
  RETURNING archive.subject_request_id AS id`;

const DROP_PIECES = `
  DELETE FROM subject_archive_pieces WHERE organization_id = $1 AND subject_request_id = ANY($2::uuid[])`;

/** What was begun before they were merged names one of the two alone, and holds the other's rows if it was made later. */
const DROP_OF_OTHERS = `
  DELETE FROM subject_archives AS archive USING subject_requests AS request
   WHERE ${OF_OTHERS} AND archive.step = 'ready'
     AND (archive.contact_ids && $2::uuid[] OR request.contact_id = ANY($3::uuid[]) AND archive.moved_at >= $4)
  RETURNING archive.subject_request_id AS id`;

const EXPIRE_DROPPED = `
  UPDATE subject_requests SET result_expires_at = least(result_expires_at, $3), ${CHANGED}
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND state = 'completed'`;

/** Contacts whose rows go from the archives of others. */
interface Withdrawal {
  readonly of: readonly string[];
  /** Whose archives may hold such rows without naming them, if they were made since. */
  readonly from: readonly string[];
  readonly since: Date;
}

/** What becomes of a person's requests and archives when they are erased, or their contact is purged. */
@Injectable()
export class RequestsEnd implements ContactHook {
  constructor(
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    hooks: ContactHooks,
  ) {
    hooks.add(this);
  }

  /**
   * In the transaction that begins the erasure: no archive of theirs is left, nothing that is open goes on, and what was
   * written about them in other requests is gone. The contacts are locked before. What is ended already stays as it is.
   */
  ofErased(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    return this.end(tx, contactIds, ERASED);
  }

  /** Likewise, in the transaction of the purge. */
  ofPurged(tx: Transaction, contactId: string): Promise<void> {
    return this.end(tx, [contactId], PURGED);
  }

  /**
   * In the transaction that parts two families, whose roots are locked: no archive of one holds rows of the other. Those
   * that are there end, those that are being made begin again.
   */
  async ofParted(tx: Transaction, { survivor, merged }: PartedFamilies, since: Date): Promise<void> {
    const both = [
      { of: merged, from: survivor, since },
      { of: survivor, from: merged, since },
    ];
    for (const each of both) await this.withdraw(tx, each);
    // As in `end`: one that was begun meanwhile is found thereafter.
    await tx.query(LOCK, [tx.organizationId, [...survivor, ...merged]]);
    for (const each of both) await this.withdraw(tx, each);
  }

  private async withdraw(tx: Transaction, { of, from, since }: Withdrawal): Promise<void> {
    const now = this.clock.now();
    const anew = await tx.query<{ id: string }>(GATHER_ANEW, [tx.organizationId, of, from, now, SOURCES[0]]);
    await tx.query(DROP_PIECES, [tx.organizationId, anew.map(({ id }) => id)]);
    // One that was completed meanwhile is among these.
    const dropped = await tx.query<{ id: string }>(DROP_OF_OTHERS, [tx.organizationId, of, from, since]);
    await tx.query(EXPIRE_DROPPED, [tx.organizationId, dropped.map(({ id }) => id), now]);
  }

  private async end(tx: Transaction, contactIds: readonly string[], why: string): Promise<void> {
    const person = [tx.organizationId, contactIds];
    // Whoever completes an archive locks it before its request; one that was begun meanwhile is dropped thereafter.
    await tx.query(DROP, person);
    const [, now] = await afterLocks(this.clock, tx.query(LOCK, person));
    await tx.query(DROP, person);
    // Of others who were merged with them once.
    await this.withdraw(tx, { of: contactIds, from: [], since: now });
    await tx.query(FORGET, [tx.organizationId, contactIds, now]);
    const rejected = await tx.query<SubjectRequestRow>(REJECT, [tx.organizationId, contactIds, now, why]);
    await tx.query(EXPIRE, [tx.organizationId, contactIds, now]);
    await this.outbox.append(
      tx,
      rejected.map((row) => requestEvent(tx.organizationId, row, 'rejected')),
    );
  }
}
