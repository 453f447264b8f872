import { Injectable } from '@nestjs/common';
import { Clock, Database, isTransient, type Transaction } from '@customer-platform/database';
import { ItemBackoff, WorkerJob } from '@customer-platform/http';
import { type DueLot, LotExpiry } from './lot-expiry.service.js';

/** As metrics and log lines call it. */
const JOB = 'lot-expiry';
/** A lot ends within 60 s of its `expires_at`: several tries fit in. */
const EVERY_MS = 10_000;
const LOTS_AT_ONCE = 500;

/** Of every organization, soonest first, but for those in whose turn something failed a while ago. */
const FIND_DUE = `
  SELECT organization_id, array_agg(DISTINCT subject_ref) AS refs
    FROM (SELECT organization_id, subject_ref FROM lot_balances
           WHERE remaining > 0 AND expires_at <= $1 AND organization_id <> ALL($2::uuid[])
           ORDER BY expires_at LIMIT ${LOTS_AT_ONCE}) AS due
   GROUP BY organization_id`;

/** Whoever holds a lock posts, or is another instance that sweeps: neither is waited for. */
const LOCK_FREE = `
  SELECT subject_ref FROM balances
   WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) ORDER BY subject_ref
     FOR UPDATE SKIP LOCKED`;

/** Read after the locks: what was due may be spent, and may be another contact's by a merge. */
const DUE = `
  SELECT l.lot_id AS "lotId", l.subject_ref AS "subjectRef", s.contact_id AS "contactId",
         l.remaining::float8 AS remaining, l.expires_at AS "expiresAt"
    FROM lot_balances l LEFT JOIN subjects s USING (organization_id, subject_ref)
   WHERE l.organization_id = $1 AND l.subject_ref = ANY($2::uuid[]) AND l.remaining > 0 AND l.expires_at <= $3
   ORDER BY l.expires_at, l.lot_id LIMIT ${LOTS_AT_ONCE}`;

interface DueRefs {
  organization_id: string;
  refs: string[];
}

/** Ends lots by itself, on as many instances as run. */
@Injectable()
export class ExpirySweep extends WorkerJob {
  private readonly backoff: ItemBackoff;
  private running: Promise<number> | undefined;

  constructor(
    private readonly database: Database,
    private readonly expiry: LotExpiry,
    private readonly clock: Clock,
  ) {
    super({ name: JOB, everyMs: EVERY_MS });
    this.backoff = new ItemBackoff(JOB, clock);
  }

  protected override pass(): Promise<number> {
    return this.sweep();
  }

  /** Ends every lot that is due and that nobody else is at; returns how many. Called meanwhile, it is the same sweep. */
  sweep(): Promise<number> {
    this.running ??= this.sweepAll().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async sweepAll(): Promise<number> {
    let ended = 0;
    for (let step = 1; step > 0 && !this.job.stopping; ended += step) {
      const now = this.clock.now();
      const due = await this.database.acrossOrganizations((tx) =>
        tx.query<DueRefs>(FIND_DUE, [now, this.backoff.waiting()]),
      );
      step = 0;
      for (const each of due) {
        if (this.job.stopping) break;
        step += await this.sweepOrganization(each, now);
        this.job.progressed();
      }
    }
    return ended;
  }

  /** @throws what says that the database is away: the others would meet the same */
  private async sweepOrganization(due: DueRefs, now: Date): Promise<number> {
    const organizationId = due.organization_id;
    try {
      const ended = await this.database.inOrganization({ organizationId }, (tx) =>
        this.end(tx, due.refs, now),
      );
      this.backoff.passed(organizationId);
      return ended;
    } catch (error) {
      this.backoff.failed(organizationId, error);
      if (isTransient(error)) throw error;
      return 0;
    }
  }

  private async end(tx: Transaction, refs: readonly string[], now: Date): Promise<number> {
    const free = await tx.query<{ subject_ref: string }>(LOCK_FREE, [tx.organizationId, refs]);
    if (free.length === 0) return 0;
    const lots = await tx.query<DueLot>(DUE, [
      tx.organizationId,
      free.map(({ subject_ref: ref }) => ref),
      now,
    ]);
    if (lots.length > 0) await this.expiry.expire(tx, lots, now);
    return lots.length;
  }
}
