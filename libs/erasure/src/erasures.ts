import { Inject, Injectable } from '@nestjs/common';
import { Clock, Database, SigningKeys, type Transaction } from '@customer-platform/database';
import { forgetParked, Outbox } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import { signReceipt, type ErasedCounts, type ErasingModule } from './receipts.js';

/** What core asks of every module when a person is to be forgotten. */
export type ErasureRequested = DomainEvent<'core.erasure.requested.v1'>;

/** The injection token of the module's name. */
export const ERASING_MODULE = Symbol('ERASING_MODULE');

const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

const FIND = `
  SELECT counts, receipt FROM erasure_receipts WHERE organization_id = $1 AND subject_request_id = $2`;

const INSERT = `
  INSERT INTO erasure_receipts (organization_id, subject_request_id, counts, receipt, completed_at)
  VALUES ($1, $2, $3, $4, $5)`;

/** Answers that are kept for repeated calls and name the person: what they say of them is in them. */
const FORGET_ANSWERS = `
  DELETE FROM idempotency_keys
   WHERE organization_id = $1 AND body IS NOT NULL
     AND EXISTS (SELECT FROM unnest($2::text[]) AS name WHERE position(name IN lower(body)) > 0)`;

/** What a module does of an erasure by itself; all in the erasure's transaction. */
export interface OwnErasure {
  /**
   * The contact and all who were merged into it, as far as the module knows; asked before anything is erased, of requests
   * of a release that did not name them.
   */
  family(tx: Transaction, contactId: string): Promise<readonly string[]>;
  /** Values that name the person in an answer that has no contact's id, whole; asked before anything is erased. */
  names?(tx: Transaction, contactIds: readonly string[]): Promise<readonly string[]>;
  /**
   * Erases these contacts: the one asked for first, then all who were merged into it.
   * @returns undefined where `Erasures.complete` is called once the rest is done
   */
  erase(
    tx: Transaction,
    contactIds: readonly string[],
    request: ErasureRequested,
  ): Promise<ErasedCounts | undefined>;
  /**
   * Gives back to whoever has parted from these contacts what is theirs. Asked last, and each time anew: the news of it
   * may have been parked, and names the erased, so that it has gone.
   */
  part(tx: Transaction, contactIds: readonly string[]): Promise<void>;
}

/** An erasure of which nothing is left to be done. */
export interface DoneErasure {
  readonly requestId: string;
  /** Whom it was about. */
  readonly contactIds: readonly string[];
  readonly counts: ErasedCounts;
  readonly correlationId: string;
  /** The id of the event that asked for it. */
  readonly causationId: string;
}

interface Receipt {
  readonly counts: ErasedCounts;
  readonly receipt: string;
}

/**
 * Carries out what `core.erasure.requested` asks: the module's own erasure, its signed receipt and the event that
 * brings the receipt to core, in one transaction; of an erasure in pieces the last two with its end. A request that comes
 * again is answered with the receipt it had.
 */
@Injectable()
export class Erasures {
  constructor(
    private readonly database: Database,
    private readonly keys: SigningKeys,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    @Inject(ERASING_MODULE) private readonly module: ErasingModule,
  ) {}

  /**
   * Runs `own.erase` for each request, in a transaction of its own. It is never refused: whatever points to the contact
   * goes, or is cleared. A request that has its receipt takes what is there again, and changes nothing of that. Parked
   * events and kept answers that name the contact go in any case: one may have come since.
   */
  async perform(requests: readonly ErasureRequested[], own: OwnErasure): Promise<void> {
    for (const request of requests) {
      await this.database.inOrganization({ organizationId: request.organizationid }, async (tx) => {
        const { subject_request_id: requestId, contact_id: contactId, contact_ids: named } = request.data;
        await tx.query(LOCK, [`erasure:${tx.organizationId}:${requestId}`]);
        // What core says of merges holds: news of a merge, or of its undo, may come later than the request.
        const ids = [...new Set([contactId, ...(named ?? (await own.family(tx, contactId)))])];
        await forgetParked(tx, ids);
        const names = (await own.names?.(tx, ids)) ?? [];
        const words = [...ids, ...names.map((name) => JSON.stringify(name).toLowerCase())];
        await tx.query(FORGET_ANSWERS, [tx.organizationId, words]);
        const asked = { requestId, correlationId: request.correlationid, causationId: request.id };
        const [known] = await tx.query<Receipt>(FIND, [tx.organizationId, requestId]);
        // Also of one that has its receipt: the release before left rows, and so does a backup that is restored. Whom a
        // request does not name may have parted since.
        const counts = known && !named ? undefined : await own.erase(tx, ids, request);
        await own.part(tx, ids);
        if (known) await this.tell(tx, asked, known);
        else if (counts) await this.tell(tx, asked, await this.sign(tx, requestId, counts));
      });
    }
  }

  /** Ends an erasure for which `erase` gave no counts. What named the contacts since its beginning goes, too. */
  async complete(tx: Transaction, done: DoneErasure, { part }: Pick<OwnErasure, 'part'>): Promise<void> {
    const { requestId, contactIds, counts } = done;
    await tx.query(LOCK, [`erasure:${tx.organizationId}:${requestId}`]);
    await forgetParked(tx, contactIds);
    await tx.query(FORGET_ANSWERS, [tx.organizationId, contactIds]);
    await part(tx, contactIds);
    // The release before may have answered a repeat of the request meanwhile.
    const [known] = await tx.query<Receipt>(FIND, [tx.organizationId, requestId]);
    await this.tell(tx, done, known ?? (await this.sign(tx, requestId, counts)));
  }

  private async sign(tx: Transaction, requestId: string, counts: ErasedCounts): Promise<Receipt> {
    const completedAt = this.clock.now();
    const receipt = await signReceipt(this.keys, {
      module: this.module,
      organization_id: tx.organizationId,
      subject_request_id: requestId,
      counts,
      completed_at: completedAt.toISOString(),
    });
    await tx.query(INSERT, [tx.organizationId, requestId, counts, receipt, completedAt]);
    return { counts, receipt };
  }

  private async tell(
    tx: Transaction,
    {
      requestId,
      correlationId,
      causationId,
    }: Pick<DoneErasure, 'requestId' | 'correlationId' | 'causationId'>,
    { counts, receipt }: Receipt,
  ): Promise<void> {
    await this.outbox.append(tx, {
      type: `${this.module}.erasure.completed.v1`,
      organizationId: tx.organizationId,
      key: requestId,
      subject: `subject-requests/${requestId}`,
      correlationId,
      causationId,
      data: { subject_request_id: requestId, counts, receipt },
    });
  }
}
