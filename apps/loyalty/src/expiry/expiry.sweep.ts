import { Injectable } from '@nestjs/common';
import {
  afterLocks,
  Clock,
  Database,
  isTransient,
  ranOut,
  type Transaction,
} from '@customer-platform/database';
import { ItemBackoff, WorkerJob } from '@customer-platform/http';
import { LotExpiry } from './lot-expiry.service.js';

/** Its name in metrics and log lines. */
const JOB = 'lot-expiry';
/** A lot ends within 60 s of its `expires_at`: several tries fit in. */
const EVERY_MS = 10_000;
const LOTS_AT_ONCE = 500;

/** Of every organization, soonest first, but for those that failed a while ago. */
const FIND_DUE = `
  SELECT organization_id, array_agg(DISTINCT subject_ref) AS refs, array_agg(lot_id) AS lots
    FROM (SELECT organization_id, subject_ref, lot_id FROM lot_balances
           WHERE remaining > 0 AND expires_at <= $1 AND lot_id <> ALL($2::uuid[])
           ORDER BY expires_at LIMIT ${LOTS_AT_ONCE}) AS due
   GROUP BY organization_id`;

/** Whoever holds a lock posts, or is another instance that sweeps: neither is waited for. */
const LOCK_FREE = `
  SELECT subject_ref FROM balances
   WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) ORDER BY subject_ref
     FOR UPDATE SKIP LOCKED`;

interface DueLots {
  organization_id: string;
  refs: string[];
  lots: string[];
}

/** Ends lots by itself, on as many instances as run. */
@Injectable()
export class ExpirySweep extends WorkerJob {
  private readonly backoff: ItemBackoff;
  /** Organizations whose lots end one by one: if it is one of them that runs into a time limit, it is found. */
  private readonly apart = new Set<string>();
  /** Lots that failed in this sweep: however many they are, and however long it takes, they come once before the others. */
  private readonly failed = new Set<string>();
  private running: Promise<number> | undefined;

  constructor(
    private readonly database: Database,
    private readonly expiry: LotExpiry,
    private readonly clock: Clock,
  ) {
    super({ name: JOB, takes: 'rows of lot_balances', everyMs: EVERY_MS });
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
    this.failed.clear();
    for (let went = true; went && !this.job.stopping;) {
      const before = ended + this.failed.size;
      const now = this.clock.now();
      const due = await this.database.acrossOrganizations((tx) =>
        tx.query<DueLots>(FIND_DUE, [now, [...this.backoff.waiting(), ...this.failed]]),
      );
      for (const each of due) {
        ended += await this.endApart(each);
        this.apart.delete(each.organization_id);
      }
      // What others are at is left to them, or to the next sweep.
      went = ended + this.failed.size > before;
    }
    return ended;
  }

  /** Ends lots of one organization at once; where one fails, each half by itself, so that the others end. */
  private async endApart(due: DueLots): Promise<number> {
    const { lots, organization_id: organizationId } = due;
    if (this.job.stopping) return 0;
    const ended = lots.length > 1 && this.apart.has(organizationId) ? undefined : await this.tryEnd(due);
    if (ended !== undefined || lots.length === 1) return ended ?? 0;
    const half = Math.ceil(lots.length / 2);
    const first = await this.endApart({ ...due, lots: lots.slice(0, half) });
    return first + (await this.endApart({ ...due, lots: lots.slice(half) }));
  }

  /**
   * Answers how many lots ended, or undefined where one of them fails; one that fails alone is left for a while.
   * @throws what says that the database is away: the others would meet the same
   */
  private async tryEnd({
    organization_id: organizationId,
    refs,
    lots,
  }: DueLots): Promise<number | undefined> {
    try {
      const ended = await this.database.inOrganization({ organizationId }, (tx) => this.end(tx, refs, lots));
      for (const lot of lots) this.backoff.passed(lot);
      return ended;
    } catch (error) {
      const [only, ...others] = lots;
      if (only !== undefined && others.length === 0) {
        this.backoff.failed(only, error);
        this.failed.add(only);
      }
      // What ran out of time or memory may be one lot's doing, however often.
      if (!isTransient(error) || ranOut(error)) return undefined;
      this.apart.add(organizationId);
      throw error;
    } finally {
      this.job.progressed();
    }
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
