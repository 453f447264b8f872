import { Injectable } from '@nestjs/common';
import { ContactFollower } from '@customer-platform/contact-refs';
import { Clock, Database, ItemJob, type WorkerTransaction } from '@customer-platform/database';
import { Erasures } from '@customer-platform/erasure';
import { endErasure, erasureAtItsEnd, type ErasureAtItsEnd } from '../../contact-refs/erasures-under-way.js';
import { nextJob, type ContactRecordJob } from './contact-record-jobs.js';
import { RecordsOfContacts } from './records-of-contacts.js';

const JOB = 'contact-records';
const LOOK_EVERY_MS = 500;

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
  ) {
    super(
      { name: JOB, takes: 'rows of contact_record_jobs and contact_erasures', everyMs: LOOK_EVERY_MS },
      database,
      clock,
    );
  }

  protected async next(
    tx: WorkerTransaction,
    waiting: readonly string[],
    resting: readonly string[],
  ): Promise<Item | undefined> {
    return (await erasureAtItsEnd(tx, waiting, resting)) ?? nextJob(tx, waiting, resting);
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
