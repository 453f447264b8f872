import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import {
  Clock,
  Database,
  ItemJob,
  SigningKeys,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { ChainWalk, type ChainHead, type Finding } from './audit-chain.js';
import { AuditLogRepository, type ChainRow } from './audit-log.repository.js';
import { alarmOf, VERIFY_EVERY_MS } from './audit-verification.js';
import { AuditVerifier } from './audit-verifier.js';
import { CHECKPOINT_TOPIC, signCheckpoint } from './checkpoint.js';

/** Its name in metrics and log lines. */
const JOB = 'audit-checkpoints';
/** core.md §11. */
const SIGN_EVERY_MS = 5 * 60_000;
const LOOK_EVERY_MS = 10_000;

const OWNERS = `
  SELECT organization_id FROM audit_chains WHERE head_seq > signed_seq AND sign_at <= $1
     AND organization_id <> ALL ($2::uuid[])
   ORDER BY sign_at`;
const DUE = `
  SELECT own.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT organization_id FROM audit_chains
     WHERE organization_id = turn.organization_id AND head_seq > signed_seq AND sign_at <= $2
       AND organization_id <> ALL ($3::uuid[])
       FOR UPDATE SKIP LOCKED) AS own
   LIMIT 1`;

const SIGN_LATER = 'UPDATE audit_chains SET sign_at = $2 WHERE organization_id = $1';

interface Due {
  organization_id: string;
  /** When it was looked for. */
  now: Date;
}

/**
 * Signs every chain that has grown, every five minutes. What is signed has been verified from the checkpoint before it on:
 * a chain that was tampered with gets no further signature. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class AuditCheckpoints extends ItemJob<Due> {
  constructor(
    database: Database,
    private readonly chains: AuditLogRepository,
    private readonly verifier: AuditVerifier,
    private readonly keys: SigningKeys,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    tenants: Tenants,
  ) {
    super({ name: JOB, takes: 'rows of audit_chains', everyMs: LOOK_EVERY_MS }, database, clock, tenants);
  }

  protected owners(
    tx: WorkerTransaction,
    waiting: readonly string[],
  ): Promise<Pick<Due, 'organization_id'>[]> {
    return tx.query(OWNERS, [this.clock.now(), waiting]);
  }

  /** An organization whose chain is to be signed. */
  protected async next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<Due | undefined> {
    const now = this.clock.now();
    const [due] = await tx.query<{ organization_id: string }>(DUE, [organizationIds, now, waiting]);
    return due && { ...due, now };
  }

  protected nameOf(due: Due): string {
    return due.organization_id;
  }

  /** A chain that does not go on as it should gets no signature. */
  protected async work(tx: WorkerTransaction, { organization_id: organizationId, now }: Due): Promise<void> {
    const next = new Date(now.getTime() + SIGN_EVERY_MS);
    const chain = await this.chains.chain(tx);
    if (chain?.status === 'intact' && (await this.extends(tx, chain)))
      await this.sign(tx, chain.head, now, next);
    else await tx.query(SIGN_LATER, [organizationId, next]);
  }

  /** Whether the chain goes on from its last checkpoint as it should; if not, that is noted. */
  private async extends(tx: Transaction, chain: ChainRow): Promise<boolean> {
    const finding = await this.walkOn(tx, chain);
    if (finding.status === 'intact') return true;
    const now = this.clock.now();
    const found = { finding, reached: 0 };
    await this.chains.noteFinding(tx, found, now, new Date(now.getTime() + VERIFY_EVERY_MS));
    alarmOf(tx.organizationId, finding);
    return false;
  }

  private async walkOn(tx: Transaction, { head, signedSeq }: ChainRow): Promise<Finding> {
    const [last] = await this.verifier.examine(await this.chains.checkpoints(tx, 1));
    const from = last?.seq ?? 0;
    if (from !== signedSeq) return { status: 'broken', atSeq: signedSeq, what: 'checkpoint_contradicted' };
    if (last && !last.genuine) return { status: 'broken', atSeq: from, what: 'checkpoint_forged' };
    const walk = new ChainWalk(last);
    for (let more = true; more;) {
      const rows = await this.chains.rows(tx, walk.head.seq, head.seq);
      more = rows.length > 0 && rows.every((row) => walk.take(row));
    }
    return walk.end(head);
  }

  private async sign(tx: Transaction, head: ChainHead, now: Date, next: Date): Promise<void> {
    const { organizationId } = tx;
    const key = await this.keys.toSign('audit_checkpoints');
    const checkpoint = await signCheckpoint(key, organizationId, head);
    await this.chains.keepCheckpoint(tx, checkpoint, now, next);
    await this.outbox.appendMessages(tx, [
      { organizationId, topic: CHECKPOINT_TOPIC, key: organizationId, value: JSON.stringify(checkpoint) },
    ]);
  }
}
