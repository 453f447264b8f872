import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { afterLocks, Clock, Database, isAway, type Transaction } from '@customer-platform/database';
import { FailingPieces, FailureAllowance, ItemBackoff, TurnLine, WorkerJob } from '@customer-platform/http';
import { LotExpiry } from './lot-expiry.service.js';

/** Its name in metrics and log lines. */
const JOB = 'lot-expiry';
/** A lot ends within 60 s of its `expires_at`: several tries fit in. */
const EVERY_MS = 10_000;
const LOTS_AT_ONCE = 500;
/** Failures of a sweep end at the first that ran into its time limit, 15 s: lots of others that came due meanwhile are next. */
const FAILURES_MS = 10_000;

const ENDING = 'remaining > 0 AND expires_at IS NOT NULL';
/**
 * Finds organizations with any, soonest first, but for those of which a lot failed. Walks from the soonest lot of one
 * organization to that of the next, however many are due.
 */
export const OWNERS = `
  WITH RECURSIVE soonest AS (
    (SELECT organization_id, expires_at FROM lot_balances WHERE ${ENDING} ORDER BY organization_id, expires_at LIMIT 1)
    UNION ALL
    SELECT next.organization_id, next.expires_at FROM soonest, LATERAL (
      SELECT organization_id, expires_at FROM lot_balances
       WHERE organization_id > soonest.organization_id AND ${ENDING}
       ORDER BY organization_id, expires_at LIMIT 1) AS next)
  SELECT organization_id FROM soonest
   WHERE expires_at <= $1 AND organization_id <> ALL($2::uuid[]) ORDER BY expires_at`;

/** Finds those of one organization, but for those that are known. No index by time alone has this order: it has everybody's. */
export const FIND_OWN = `
  SELECT lot_id AS lot, subject_ref AS ref FROM lot_balances
   WHERE organization_id BETWEEN $1 AND $1 AND expires_at <= $2
     AND ${ENDING} AND lot_id <> ALL($3::uuid[])
   ORDER BY organization_id, expires_at LIMIT ${LOTS_AT_ONCE}`;

/** Whoever holds a lock posts, or is another instance that sweeps: neither is waited for. */
const LOCK_FREE = `
  SELECT subject_ref FROM balances
   WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) ORDER BY subject_ref
     FOR UPDATE SKIP LOCKED`;

/** A lot, and whose points it holds. */
interface Lot {
  readonly lot: string;
  readonly ref: string;
}

/** Ends lots by itself, on as many instances as run: tenants take turns, and in a tenant its organizations. */
@Injectable()
export class ExpirySweep extends WorkerJob {
  private readonly backoff: ItemBackoff;
  private readonly line: TurnLine;
  /** Organizations of which a lot failed: they come after all others; those tried last come last. */
  private readonly failing = new Map<string, FailingPieces<Lot>>();
  private running: Promise<number> | undefined;

  constructor(
    private readonly database: Database,
    private readonly expiry: LotExpiry,
    private readonly clock: Clock,
    tenants: Tenants,
  ) {
    super({ name: JOB, takes: 'rows of lot_balances', everyMs: EVERY_MS });
    this.backoff = new ItemBackoff(JOB, clock);
    this.line = new TurnLine(tenants);
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
    let ended = await this.endOthers();
    const allowance = new FailureAllowance(FAILURES_MS);
    for (const [organizationId, pieces] of [...this.failing]) {
      if (this.job.stopping || allowance.isSpent) break;
      ended += await this.endFailing(organizationId, pieces, allowance);
    }
    return ended;
  }

  /** Ends lots of all organizations but those of which one failed. */
  private async endOthers(): Promise<number> {
    let ended = 0;
    const piece = async (organizationId: string, failed: () => void): Promise<boolean> => {
      const lots = await this.findOwn(organizationId, []);
      const went = lots.length === 0 ? 0 : await this.endTogether(organizationId, lots, failed);
      ended += went;
      // What others are at is left to them, or to the next sweep.
      return went > 0;
    };
    await this.line.goThrough(
      () => this.owners(),
      piece,
      () => this.job.stopping,
    );
    return ended;
  }

  private async owners(): Promise<string[]> {
    const values = [this.clock.now(), [...this.failing.keys()]];
    const rows = await this.database.acrossOrganizations((tx) =>
      tx.query<{ organization_id: string }>(OWNERS, values),
    );
    return rows.map(({ organization_id: id }) => id);
  }

  /** @throws what says that the database is away: the others would meet the same */
  private async endTogether(
    organizationId: string,
    lots: readonly Lot[],
    failed: () => void,
  ): Promise<number> {
    try {
      return await this.endAll(organizationId, lots);
    } catch (error) {
      // It may be away because of one of them.
      this.failing.set(organizationId, new FailingPieces(lots));
      if (isAway(error)) throw error;
      failed();
      return 0;
    } finally {
      this.job.progressed();
    }
  }

  /** Ends the lots of one organization but for those that fail; they are tried again after growing pauses. */
  private async endFailing(
    organizationId: string,
    pieces: FailingPieces<Lot>,
    allowance: FailureAllowance,
  ): Promise<number> {
    this.failing.delete(organizationId);
    this.failing.set(organizationId, pieces);
    const { done, ended } = await pieces.pass({
      find: (known) => this.findOwn(organizationId, known),
      most: LOTS_AT_ONCE,
      work: (lots) => this.endAll(organizationId, lots),
      isAway,
      failed: (error) => this.backoff.failed(organizationId, error),
      retries: !this.backoff.waits(organizationId),
      allowance,
      stopping: () => this.job.stopping,
    });
    this.job.progressed();
    if (ended) {
      this.failing.delete(organizationId);
      this.backoff.passed(organizationId);
    }
    return done;
  }

  private findOwn(organizationId: string, known: readonly Lot[]): Promise<Lot[]> {
    const values = [organizationId, this.clock.now(), known.map(({ lot }) => lot)];
    return this.database.acrossOrganizations((tx) => tx.query<Lot>(FIND_OWN, values));
  }

  private endAll(organizationId: string, lots: readonly Lot[]): Promise<number> {
    const refs = [...new Set(lots.map(({ ref }) => ref))];
    const ids = lots.map(({ lot }) => lot);
    return this.database.inOrganization({ organizationId }, (tx) => this.end(tx, refs, ids));
  }

  /** What is due is read after the locks: it may be spent, and another contact's by a merge. */
  private async end(tx: Transaction, refs: readonly string[], lots: readonly string[]): Promise<number> {
    const [free, now] = await afterLocks(
      this.clock,
      tx.query<{ subject_ref: string }>(LOCK_FREE, [tx.organizationId, refs]),
    );
    if (free.length === 0) return 0;
    const subjectRefs = free.map(({ subject_ref: ref }) => ref);
    return this.expiry.expireDue(tx, { subjectRefs, lotIds: lots }, now);
  }
}
