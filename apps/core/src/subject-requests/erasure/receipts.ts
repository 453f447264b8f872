import { Injectable } from '@nestjs/common';
import { Audit, systemActor } from '@customer-platform/audit';
import { Clock, type Transaction } from '@customer-platform/database';
import type { ErasedCounts, ErasingModule } from '@customer-platform/erasure';
import { Outbox } from '@customer-platform/event-bus';
import { REQUEST_COLUMNS, requestEvent, type SubjectRequestRow } from '../subject-request.row.js';

/** Who has to answer before an erasure is completed. */
export const ERASING = ['core', 'crm', 'loyalty', 'messaging'] as const;

/** Topics keep what was told of the person so long (core.md §10). */
const RESIDUE_MS = 7 * 86_400_000;

/** A receipt that was verified stands; any other gives way to one that comes again. */
const KEEP = `
  INSERT INTO subject_request_receipts AS kept
    (organization_id, subject_request_id, module, state, counts, signature, received_at)
  SELECT organization_id, id, $3, $4, $5, $6, $7 FROM subject_requests WHERE organization_id = $1 AND id = $2
  ON CONFLICT (organization_id, subject_request_id, module) DO UPDATE
    SET state = excluded.state, counts = excluded.counts, signature = excluded.signature,
        received_at = excluded.received_at
    WHERE kept.state <> 'verified'`;

const KNOWN = `SELECT id FROM subject_requests WHERE organization_id = $1 AND id = ANY ($2::uuid[])`;

const JUDGE = `
  UPDATE subject_request_receipts SET state = $5
   WHERE organization_id = $1 AND subject_request_id = $2 AND module = $3 AND signature = $4 AND state = 'received'
  RETURNING 1`;

const LOCK = `SELECT state FROM subject_requests WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE`;

const VERIFIED = `
  SELECT count(*)::int AS count FROM subject_request_receipts
   WHERE organization_id = $1 AND subject_request_id = $2 AND state = 'verified'`;

const COMPLETE = `
  UPDATE subject_requests
     SET state = 'completed', completed_at = $3, residual_until = $4,
         updated_at = greatest($3, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2 AND state = 'in_progress'
  RETURNING ${REQUEST_COLUMNS}`;

const DONE = `UPDATE contact_erasures SET step = 'done' WHERE organization_id = $1 AND subject_request_id = $2`;

/** What a module answered to a request. */
interface GivenReceipt {
  readonly requestId: string;
  readonly counts: ErasedCounts;
  readonly signature: string;
}

/** Modules have erased somebody for a request that is not here: it was lost with a restored database, or never made. */
export class UnknownErasure extends Error {
  constructor(requestId: string) {
    super(`no request ${requestId} is known here, and a module has carried it out`);
    this.name = 'UnknownErasure';
  }
}

/** The receipts of erasures: an erasure is completed by the last of them, and by nothing else. */
@Injectable()
export class Receipts {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Keeps what modules told, to be verified.
   * @throws UnknownErasure of a request that nobody made
   */
  async take(
    tx: Transaction,
    given: readonly (GivenReceipt & { readonly module: ErasingModule })[],
  ): Promise<void> {
    const ids = given.map(({ requestId }) => requestId);
    const rows = await tx.query<{ id: string }>(KNOWN, [tx.organizationId, ids]);
    const known = new Set(rows.map(({ id }) => id));
    for (const { module, ...receipt } of given) {
      if (!known.has(receipt.requestId.toLowerCase())) throw new UnknownErasure(receipt.requestId);
      await this.keep(tx, module, 'received', receipt);
    }
  }

  /** Keeps core's own. */
  async keepOwn(tx: Transaction, given: GivenReceipt): Promise<void> {
    await this.keep(tx, 'core', 'verified', given);
    await this.completeIfAll(tx, given.requestId);
  }

  /** Notes whether a receipt is what it says. */
  async judge(
    tx: Transaction,
    module: ErasingModule,
    { requestId, signature }: Pick<GivenReceipt, 'requestId' | 'signature'>,
    isRight: boolean,
  ): Promise<void> {
    const state = isRight ? 'verified' : 'refused';
    const judged = await tx.query(JUDGE, [tx.organizationId, requestId, module, signature, state]);
    if (judged.length > 0 && isRight) await this.completeIfAll(tx, requestId);
  }

  private async keep(
    tx: Transaction,
    module: (typeof ERASING)[number],
    state: 'received' | 'verified',
    { requestId, counts, signature }: GivenReceipt,
  ): Promise<void> {
    const now = this.clock.now();
    await tx.query(KEEP, [
      tx.organizationId,
      requestId,
      module,
      state,
      JSON.stringify(counts),
      signature,
      now,
    ]);
  }

  /** Whoever writes the last receipt sees all of them: the row of the request is locked first. */
  private async completeIfAll(tx: Transaction, requestId: string): Promise<void> {
    const [request] = await tx.query<{ state: string }>(LOCK, [tx.organizationId, requestId]);
    if (request?.state !== 'in_progress') return;
    const [verified] = await tx.query<{ count: number }>(VERIFIED, [tx.organizationId, requestId]);
    if (verified?.count !== ERASING.length) return;
    const now = this.clock.now();
    const until = new Date(now.getTime() + RESIDUE_MS);
    const [row] = await tx.query<SubjectRequestRow>(COMPLETE, [tx.organizationId, requestId, now, until]);
    if (!row) return;
    await tx.query(DONE, [tx.organizationId, requestId]);
    await this.outbox.append(tx, requestEvent(tx.organizationId, row, 'completed'));
    await this.audit.record(tx, systemActor(tx.organizationId, row.correlation_id, 'contact-erasure'), {
      action: 'core.subject_requests.create',
      resource: { type: 'subject_requests', id: requestId },
      changedFields: ['state'],
    });
  }
}
