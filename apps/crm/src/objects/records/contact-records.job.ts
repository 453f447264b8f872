import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { ContactFollower } from '@customer-platform/contact-refs';
import { Clock, Database, ItemJob, type WorkerTransaction } from '@customer-platform/database';
import { Erasures } from '@customer-platform/erasure';
import {
  endErasure,
  ERASURES_AT_THEIR_END,
  erasureAtItsEnd,
  type ErasureAtItsEnd,
} from '../../contact-refs/erasures-under-way.js';
import { JOBS_BY_TURN, nextJob, type ContactRecordJob } from './contact-record-jobs.js';
import { RecordsOfContacts } from './records-of-contacts.js';

const JOB = 'contact-records';
const LOOK_EVERY_MS = 500;

export const OWNERS = `
  SELECT organization_id FROM (${ERASURES_AT_THEIR_END} UNION ALL (${JOBS_BY_TURN})) AS item (organization_id, since)
   GROUP BY organization_id ORDER BY min(since)`;

type Item = ContactRecordJob | ErasureAtItsEnd;

/**
 * Goes on with merges and erasures of contacts with many records, a piece in each transaction, and tells of an erasure
 * once its last piece is done. What a process that dies has not committed another one does again.
 */
@Injectable()
export class ContactRecordsJob extends ItemJob<Item> {
  constructor(
    database: Database,
    private readonly records: RecordsOfContacts,
    private readonly erasures: Erasures,
    private readonly follower: ContactFollower,
    clock: Clock,
    tenants: Tenants,
  ) {
    super(
      { name: JOB, takes: 'rows of contact_record_jobs and contact_erasures', everyMs: LOOK_EVERY_MS },
      database,
      clock,
      tenants,
    );
  }

  protected owners(
    tx: WorkerTransaction,
    waiting: readonly string[],
  ): Promise<Pick<Item, 'organization_id'>[]> {
    return tx.query(OWNERS, [waiting]);
  }

  protected async next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<Item | undefined> {
    const ending = await erasureAtItsEnd(tx, organizationIds, waiting);
    const before = ending
      ? organizationIds.slice(0, organizationIds.indexOf(ending.organization_id))
      : organizationIds;
    return (await nextJob(tx, before, waiting)) ?? ending;
  }

  protected async work(tx: WorkerTransaction, item: Item): Promise<void> {
    if ('contact_id' in item) {
      await this.records.goOn(tx, item);
      return;
    }
    await this.erasures.complete(tx, item, {
      part: (within, contactIds) => this.follower.part(within, contactIds),
    });
    await endErasure(tx, item);
  }

  protected nameOf(item: Item): string {
    return 'contact_id' in item ? item.contact_id : item.requestId;
  }
}
