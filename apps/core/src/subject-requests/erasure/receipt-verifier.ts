import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, isTransient, ranOut, sameJson } from '@customer-platform/database';
import { openReceipt, receiptKeyId, type ErasedCounts, type ErasingModule } from '@customer-platform/erasure';
import { ItemBackoff, log, TurnLine, WorkerJob } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ReceiptKeys } from './receipt-keys.js';
import { ReceiptSignal } from './receipt.signal.js';
import { Receipts } from './receipts.js';

/** Its name in metrics and log lines. */
const JOB = 'erasure-receipts';
const LOOK_EVERY_MS = 1_000;

/** Walks from the first of one organization to that of the next, however many have come. */
export const OWNERS = `
  WITH RECURSIVE first AS (
    (SELECT organization_id, received_at FROM subject_request_receipts
      WHERE state = 'received' AND subject_request_id || ' ' || module <> ALL($1::text[])
      ORDER BY organization_id, received_at LIMIT 1)
    UNION ALL
    SELECT next.organization_id, next.received_at FROM first, LATERAL (
      SELECT organization_id, received_at FROM subject_request_receipts
       WHERE organization_id > first.organization_id AND state = 'received'
         AND subject_request_id || ' ' || module <> ALL($1::text[])
       ORDER BY organization_id, received_at LIMIT 1) AS next)
  SELECT organization_id FROM first ORDER BY received_at`;
/** No index by time alone has this order: it has everybody's. */
export const NEXT = `
  SELECT own.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT organization_id, subject_request_id, module, counts, signature FROM subject_request_receipts
     WHERE organization_id BETWEEN turn.organization_id AND turn.organization_id
       AND state = 'received' AND subject_request_id || ' ' || module <> ALL($2::text[])
     ORDER BY organization_id, received_at LIMIT 1) AS own
   LIMIT 1`;

interface ReceiptRow {
  organization_id: string;
  subject_request_id: string;
  module: ErasingModule;
  counts: ErasedCounts;
  signature: string;
}

/**
 * Verifies the receipts of the other modules by the keys that they show. Apart from their reception: a module that is away
 * holds up no consumer, and no connection waits for another module. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class ReceiptVerifier extends WorkerJob {
  private readonly backoff: ItemBackoff;
  private readonly line: TurnLine;

  constructor(
    private readonly database: Database,
    private readonly keys: ReceiptKeys,
    private readonly receipts: Receipts,
    signal: ReceiptSignal,
    clock: Clock,
    tenants: Tenants,
  ) {
    super({ name: JOB, takes: 'rows of subject_request_receipts', everyMs: LOOK_EVERY_MS, wokenBy: signal });
    this.backoff = new ItemBackoff(JOB, clock);
    this.line = new TurnLine(tenants);
  }

  protected override pass(): Promise<boolean> {
    return this.runAll();
  }

  /** Verifies all that can be verified now. */
  async runAll(): Promise<boolean> {
    return this.job.drain(() => this.runNext());
  }

  private async runNext(): Promise<boolean> {
    const row = await this.next();
    this.job.progressed();
    if (!row) return false;
    const name = `${row.subject_request_id} ${row.module}`;
    try {
      await this.line.note(
        () => row.organization_id,
        () => this.verify(row),
      );
      this.backoff.passed(name);
    } catch (error) {
      // A module that does not show its keys is asked again after a while; the receipts of others go on.
      this.backoff.failed(name, error);
      if (!(error instanceof Problem) && isTransient(error) && !ranOut(error)) throw error;
    }
    return true;
  }

  private async next(): Promise<ReceiptRow | undefined> {
    const waiting = this.backoff.waiting();
    return this.database.acrossOrganizations((tx) =>
      this.line.next(
        async () => {
          const owners = await tx.query<Pick<ReceiptRow, 'organization_id'>>(OWNERS, [waiting]);
          return owners.map(({ organization_id: id }) => id);
        },
        async (organizationIds) => (await tx.query<ReceiptRow>(NEXT, [organizationIds, waiting]))[0],
      ),
    );
  }

  private async verify(row: ReceiptRow): Promise<void> {
    const isRight = await this.isRight(row);
    const { organization_id: organizationId, module, subject_request_id: requestId, signature } = row;
    await this.database.inOrganization({ organizationId }, (tx) =>
      this.receipts.judge(tx, module, { requestId, signature }, isRight),
    );
  }

  /**
   * Whether the module signed it, of this request, with the counts that it told.
   * @throws Problem `dependency_unavailable` while its keys cannot be had
   */
  private async isRight(row: ReceiptRow): Promise<boolean> {
    const kid = receiptKeyId(row.signature);
    if (kid === undefined) return this.refused(row, new Error('It is no receipt'));
    const keys = await this.keys.with(row.module, kid);
    try {
      const said = await openReceipt(row.signature, keys);
      return (
        (said.module === row.module &&
          said.organization_id === row.organization_id &&
          said.subject_request_id === row.subject_request_id &&
          sameJson(said.counts, row.counts)) ||
        this.refused(row, new Error('It is of another request, or says something else'))
      );
    } catch (error) {
      return this.refused(row, error);
    }
  }

  private refused({ module, subject_request_id: request }: ReceiptRow, err: unknown): false {
    log.error({ err, module, request }, 'The receipt of an erasure was refused; the request stays open');
    return false;
  }
}
