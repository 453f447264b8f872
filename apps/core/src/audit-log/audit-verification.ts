import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, isDatabaseUnavailable, ranOut } from '@customer-platform/database';
import { ItemBackoff, log, TurnLine, WorkerJob } from '@customer-platform/http';
import type { Finding } from './audit-chain.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { AuditVerifier } from './audit-verifier.js';

/** Its name in metrics and log lines. */
const JOB = 'audit-verification';
/** A whole chain is verified so often. */
export const VERIFY_EVERY_MS = 24 * 3_600_000;
const LOOK_EVERY_MS = 10_000;
/** So long a piece is its process's; after a crash another goes on behind the piece before. */
const CLAIM_MS = 10 * 60_000;

const OWNERS = `
  SELECT organization_id FROM audit_chains WHERE verify_at <= $1 AND organization_id <> ALL($2::uuid[])
   ORDER BY verify_at`;
const DUE = `
  SELECT own.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT organization_id, walked_seq FROM audit_chains
     WHERE organization_id = turn.organization_id AND verify_at <= $2 AND organization_id <> ALL($3::uuid[])
       FOR UPDATE SKIP LOCKED) AS own
   LIMIT 1`;

const CLAIM = 'UPDATE audit_chains SET verify_at = $2 WHERE organization_id = $1';

interface DueChain {
  readonly organization_id: string;
  readonly walked_seq: string;
}

/**
 * Verifies every chain whole once a day, a piece at a time: tenants take turns, and in a tenant chains, so that a long one, or a thousand, hold up no other, and
 * signing, a job of its own, waits for none of them. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class AuditVerification extends WorkerJob {
  private readonly backoff: ItemBackoff;
  private readonly line: TurnLine;

  constructor(
    private readonly database: Database,
    private readonly chains: AuditLogRepository,
    private readonly verifier: AuditVerifier,
    private readonly clock: Clock,
    tenants: Tenants,
  ) {
    super({ name: JOB, takes: 'rows of audit_chains', everyMs: LOOK_EVERY_MS });
    this.backoff = new ItemBackoff(JOB, clock);
    this.line = new TurnLine(tenants);
  }

  /** Verifies all that is due now. */
  runAll(): Promise<boolean> {
    return this.job.drain(() => this.runNext());
  }

  protected override pass(): Promise<boolean> {
    return this.runAll();
  }

  /** A piece of a chain; one that fails, be it at its claim, is left for a while. @returns whether one was due */
  private async runNext(): Promise<boolean> {
    let due: DueChain | undefined;
    const work = async (): Promise<void> => {
      await this.claim((chain) => (due = chain));
      if (due) await this.walk(due.organization_id, Number(due.walked_seq));
    };
    try {
      await this.line.note(() => due?.organization_id, work);
      if (due) this.backoff.passed(due.organization_id);
    } catch (error) {
      if (due) this.backoff.failed(due.organization_id, error);
      if (!due || (isDatabaseUnavailable(error) && !ranOut(error))) throw error;
    }
    return due !== undefined;
  }

  /** @param found hears whose turn it is, before anything of it is changed */
  private async claim(found: (chain: DueChain | undefined) => void): Promise<void> {
    const now = this.clock.now();
    const waiting = this.backoff.waiting();
    await this.database.acrossOrganizations(async (tx) => {
      const chain = await this.line.next(
        async () => {
          const owners = await tx.query<Pick<DueChain, 'organization_id'>>(OWNERS, [now, waiting]);
          return owners.map(({ organization_id: id }) => id);
        },
        async (organizationIds) => (await tx.query<DueChain>(DUE, [organizationIds, now, waiting]))[0],
      );
      found(chain);
      if (chain) await tx.query(CLAIM, [chain.organization_id, new Date(now.getTime() + CLAIM_MS)]);
    });
  }

  private async walk(organizationId: string, from: number): Promise<void> {
    const { finding, reached, isWhole } = await this.verifier.piece(organizationId, from);
    const now = this.clock.now();
    await this.database.inOrganization({ organizationId }, (tx) =>
      isWhole || finding.status === 'broken'
        ? this.chains.noteFinding(tx, { finding, reached }, now, new Date(now.getTime() + VERIFY_EVERY_MS))
        : this.chains.noteWalked(tx, reached, now),
    );
    if (finding.status === 'broken') alarmOf(organizationId, finding);
  }
}

/** Tells who operates the platform that a chain is not what it was. */
export function alarmOf(organizationId: string, finding: Finding): void {
  log.error({ organizationId, finding }, 'The audit log of an organization was tampered with');
}
