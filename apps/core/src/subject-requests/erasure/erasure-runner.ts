import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import {
  Clock,
  Database,
  isTransient,
  SigningKeys,
  type WorkerTransaction,
} from '@customer-platform/database';
import { signReceipt } from '@customer-platform/erasure';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import { PollingJob, Setbacks } from '@customer-platform/http';
import { ErasedIdentifiers, type Identifier } from '../blocklist/erased-identifiers.js';
import { ErasureSignal } from './erasure.signal.js';
import { Receipts } from './receipts.js';
import { FIRST_STEP, runPiece, STEP_NAMES, type Erasure, type StepName } from './steps.js';

/** As metrics and log lines call it. */
const JOB = 'contact-erasure';
const LOOK_EVERY_MS = 500;
/** While a module has not answered it is asked again so often: its topic forgets a request after a week. */
const ASK_AGAIN_MS = 86_400_000;
/** No transaction of the platform takes so long: what is older is one that somebody forgot. */
const FENCE_LASTS_MS = 3_600_000;

/** They take turns: one of a person with a million events holds up nobody else's. */
const NEXT = `
  SELECT organization_id, subject_request_id, contact_id, correlation_id, step, round, cursor_id, fence, contact_ids,
         identifiers, counts, asked_at, created_at
    FROM contact_erasures
   WHERE step <> 'done' AND subject_request_id <> ALL($1::uuid[])
     AND (step <> 'fence' OR fence IS NULL OR created_at < $2
          OR fence::xid8 < pg_snapshot_xmin(pg_current_snapshot()))
     AND (step <> 'asked' OR asked_at < $3)
   ORDER BY moved_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

const SAVE = `
  UPDATE contact_erasures SET step = $3, round = $4, cursor_id = $5, counts = $6, moved_at = now()
   WHERE organization_id = $1 AND subject_request_id = $2`;

const SET_FENCE = `
  UPDATE contact_erasures SET step = 'fence', fence = pg_current_xact_id()::text
   WHERE organization_id = $1 AND subject_request_id = $2`;

/** Nothing of whom it was is needed any more. */
const FORGET = `
  UPDATE contact_erasures SET step = 'asked', identifiers = '[]', contact_ids = '{}', cursor_id = NULL
   WHERE organization_id = $1 AND subject_request_id = $2`;

const FORGET_WORDS = `
  UPDATE subject_requests
     SET note = NULL, verification_reference = NULL, updated_at = greatest($3, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2`;

const ASKED = `UPDATE contact_erasures SET asked_at = $3 WHERE organization_id = $1 AND subject_request_id = $2`;

const VERSIONS = `SELECT id, version FROM contacts WHERE organization_id = $1 AND id = ANY($2::uuid[]) ORDER BY id`;

interface ErasureRow {
  organization_id: string;
  subject_request_id: string;
  contact_id: string;
  correlation_id: string;
  /** A step; `fence` between the two rounds, `asked` until all modules have answered, then `done`. */
  step: StepName | 'fence' | 'receipt' | 'asked';
  round: number;
  cursor_id: string | null;
  fence: string | null;
  contact_ids: string[];
  identifiers: Identifier[];
  counts: Record<string, number>;
}

/**
 * Carries out erasures, a piece at a time: each piece and how far it came are one transaction, so that a process may be
 * killed at any moment and another goes on there. Two rounds: what a transaction was writing when the person was taken out
 * of their contacts, the second one finds, which waits until all transactions of that time have ended. Runs where
 * PROCESS_ROLE is not api.
 */
@Injectable()
export class ErasureRunner implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly job = new PollingJob({ name: JOB, everyMs: LOOK_EVERY_MS, pass: () => this.runAll() });
  private readonly setbacks: Setbacks;

  constructor(
    private readonly database: Database,
    private readonly keys: SigningKeys,
    private readonly outbox: Outbox,
    private readonly receipts: Receipts,
    private readonly blocklist: ErasedIdentifiers,
    private readonly signal: ErasureSignal,
    private readonly clock: Clock,
  ) {
    this.setbacks = new Setbacks(JOB, clock);
  }

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.signal.listen(() => this.job.wake());
    this.job.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.job.stop();
  }

  /** Does all that can be done now. */
  async runAll(): Promise<void> {
    while (!this.job.stopping && (await this.runNext())) continue;
  }

  /** Whether there was a piece. One that fails is left for a while, and the next erasure is taken. */
  private async runNext(): Promise<boolean> {
    let row: ErasureRow | undefined;
    try {
      await this.database.acrossOrganizations(async (tx) => {
        const now = this.clock.now().getTime();
        [row] = await tx.query<ErasureRow>(NEXT, [
          this.setbacks.waiting(),
          new Date(now - FENCE_LASTS_MS),
          new Date(now - ASK_AGAIN_MS),
        ]);
        if (!row) return;
        await tx.useOrganization(row.organization_id);
        await this.advance(tx, row);
      });
      if (row) this.setbacks.passed(row.subject_request_id);
      this.job.progressed();
    } catch (error) {
      if (row) this.setbacks.failed(row.subject_request_id, error);
      if (!row || isTransient(error)) throw error;
    }
    return row !== undefined;
  }

  private async advance(tx: WorkerTransaction, row: ErasureRow): Promise<void> {
    const key = [row.organization_id, row.subject_request_id];
    switch (row.step) {
      case 'fence':
        if (row.fence === null) await tx.query(SET_FENCE, key);
        else await tx.query(SAVE, [...key, FIRST_STEP, 2, null, row.counts]);
        return;
      case 'receipt':
        return this.finish(tx, row);
      case 'asked':
        await tx.query(ASKED, [...key, this.clock.now()]);
        return this.outbox.append(tx, requestedEvent(row));
      default:
        return this.takeAway(tx, row, row.step);
    }
  }

  private async takeAway(tx: WorkerTransaction, row: ErasureRow, step: StepName): Promise<void> {
    const erasure: Erasure = {
      organizationId: row.organization_id,
      requestId: row.subject_request_id,
      contactIds: row.contact_ids,
      identifiers: row.identifiers,
      hashes: this.blocklist.hashesOf(row.organization_id, row.identifiers),
      cursor: row.cursor_id,
    };
    const { more, cursor = null, counts = {} } = await runPiece(step, tx, erasure);
    const all = { ...row.counts };
    for (const [name, count] of Object.entries(counts)) all[name] = (all[name] ?? 0) + count;
    const next = more ? step : STEP_NAMES[STEP_NAMES.indexOf(step) + 1];
    const after = next ?? (row.round === 1 ? 'fence' : 'receipt');
    await tx.query(SAVE, [
      row.organization_id,
      row.subject_request_id,
      after,
      row.round,
      more ? cursor : null,
      all,
    ]);
  }

  /** Core's part is done: its own receipt, and what it tells of the contacts. */
  private async finish(tx: WorkerTransaction, row: ErasureRow): Promise<void> {
    const { organization_id: organizationId, subject_request_id: requestId, counts } = row;
    const now = this.clock.now();
    const signature = await signReceipt(this.keys, {
      module: 'core',
      organization_id: organizationId,
      subject_request_id: requestId,
      counts,
      completed_at: now.toISOString(),
    });
    const contacts = await tx.query<{ id: string; version: number }>(VERSIONS, [
      organizationId,
      row.contact_ids,
    ]);
    await this.outbox.append(
      tx,
      contacts.map((contact) => erasedEvent(row, contact)),
    );
    await tx.query(FORGET, [organizationId, requestId]);
    await tx.query(FORGET_WORDS, [organizationId, requestId, now]);
    await this.receipts.keepOwn(tx, { requestId, counts, signature });
  }
}

function requestedEvent(row: ErasureRow): NewDomainEvent {
  const { organization_id: organizationId, contact_id: contactId, correlation_id: correlationId } = row;
  return {
    type: 'core.erasure.requested.v1',
    organizationId,
    key: contactId,
    subject: `contacts/${contactId}`,
    correlationId,
    data: { subject_request_id: row.subject_request_id, contact_id: contactId },
  };
}

function erasedEvent(row: ErasureRow, { id, version }: { id: string; version: number }): NewDomainEvent {
  return {
    type: 'core.contact.erased.v1',
    organizationId: row.organization_id,
    key: id,
    subject: `contacts/${id}`,
    correlationId: row.correlation_id,
    data: { contact_id: id, version, changed_fields: [], contact: null },
  };
}
