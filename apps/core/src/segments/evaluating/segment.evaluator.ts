import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, isTransient, ranOut, type WorkerTransaction } from '@customer-platform/database';
import { ItemBackoff, log, TurnLine, WorkerJob } from '@customer-platform/http';
import { SegmentBuilder } from '../building/segment-builder.js';
import { SegmentIndexes } from '../../following/segment-indexes.js';
import type { SegmentIndex } from '../../vocabulary/rules/segment-index.js';
import { SegmentSignal } from '../../following/segment.signal.js';
import { busyOrganizations } from './busy-organizations.js';
import { addDue, takeChanges, tasksOf } from './change-queue.js';
import { dueContacts, readDueTimes } from './due-times.js';
import { Evaluation } from './evaluation.js';
import { EvaluatorShares } from './evaluator-shares.js';
import { CLOCK_TOLERANCE_MS, evaluationTime } from './segment-clock.js';
import { FailedEvaluations } from './failed-evaluations.js';

/** Its name in metrics and log lines. */
const JOB = 'segments';

/** How often it looks by itself: for the end of a window, and for what another process has noted. */
const LOOK_EVERY_MS = 500;

/** Changes and due contacts of one transaction: enough to make each cheap, few enough to end within a second. */
const CHANGES_AT_ONCE = 500;
const DUE_AT_ONCE = 500;

const TURN = `SELECT pg_try_advisory_xact_lock(hashtextextended('segments:evaluate:' || $1::text, 0)) AS mine`;

/**
 * Moves contacts into and out of segments: by what changed of them, by time, and by new rules. One transaction at a
 * time evaluates an organization, whichever instance runs it: nobody enters twice, and what a contact is told of
 * keeps its order. Runs where PROCESS_ROLE is not api; each instance looks at its share of the organizations.
 */
@Injectable()
export class SegmentEvaluator extends WorkerJob {
  private readonly backoff: ItemBackoff;
  private readonly line: TurnLine;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly indexes: SegmentIndexes,
    private readonly evaluation: Evaluation,
    private readonly builder: SegmentBuilder,
    private readonly failed: FailedEvaluations,
    signal: SegmentSignal,
    private readonly shares: EvaluatorShares,
    tenants: Tenants,
  ) {
    // The others count on its word every second.
    super({
      name: JOB,
      takes: 'rows of segment_changes',
      everyMs: LOOK_EVERY_MS,
      quiet: { everyMs: 1_000 },
      wokenBy: signal,
    });
    this.backoff = new ItemBackoff(JOB, clock);
    this.line = new TurnLine(tenants);
  }

  override async onModuleDestroy(): Promise<void> {
    await super.onModuleDestroy();
    await this.shares.leave();
  }

  /** Evaluates until nothing is left to do; tenants take turns, in a tenant its organizations, and one that fails holds up no other. */
  async runAll(): Promise<void> {
    await this.run(
      () => true,
      () => Promise.resolve(),
    );
  }

  /** As `runAll`, of this instance's share of the organizations. */
  protected async pass(): Promise<boolean> {
    const tell = (): Promise<void> => this.shares.tell(() => this.backoff.waiting());
    // Also where nothing is to be done: the others count on it for what comes.
    await tell();
    // A round may be long: whoever comes or goes meanwhile counts, and so does this instance.
    return this.run((organizationId) => this.shares.has(organizationId), tell);
  }

  /** @returns whether there was anything to do for anybody, be it another instance's */
  private async run(
    isMine: (organizationId: string) => boolean,
    tell: () => Promise<void>,
  ): Promise<boolean> {
    let any = false;
    // Who is another's has no turn here, nor does its tenant for it.
    const mine = async (): Promise<string[]> => {
      const organizations = await this.organizations();
      any ||= organizations.length > 0;
      return organizations.filter((id) => isMine(id) && !this.backoff.waits(id));
    };
    await this.line.goThrough(
      mine,
      async (organizationId, failed) => {
        await tell();
        return isMine(organizationId) && this.turnOf(organizationId, failed);
      },
      () => this.job.stopping,
    );
    return any;
  }

  /** @throws what says that the database is away: the others would meet the same */
  private async turnOf(organizationId: string, failed: () => void): Promise<boolean> {
    try {
      const busy = await this.turn(organizationId);
      this.backoff.passed(organizationId);
      this.job.progressed();
      return busy;
    } catch (error) {
      this.backoff.failed(organizationId, error);
      if (isTransient(error) && !ranOut(error)) throw error;
      failed();
      return false;
    }
  }

  /** One transaction's worth of an organization; whether it did anything. Nothing while another instance does. */
  turn(organizationId: string): Promise<boolean> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      const [turn] = await tx.query<{ mine: boolean }>(TURN, [organizationId]);
      if (!turn?.mine) return false;
      const index = await this.indexes.now(tx);
      if (!index) return false;
      const now = await evaluationTime(tx, this.clock.now());
      const changed = await this.evaluateChanges(tx, index, now);
      return (await this.build(tx, index, now)) || changed;
    });
  }

  /** A rule that cannot be built holds up no change of the organization's contacts. */
  private async build(tx: WorkerTransaction, index: SegmentIndex, now: Date): Promise<boolean> {
    const item = `${tx.organizationId} building`;
    if (this.backoff.waits(item)) return false;
    try {
      const built = await tx.savepoint(() => this.builder.step(tx, index, now));
      this.backoff.passed(item);
      return built;
    } catch (error) {
      this.backoff.failed(item, error);
      return false;
    }
  }

  private organizations(): Promise<string[]> {
    return this.database.acrossOrganizations(async (tx) => {
      const now = this.clock.now();
      const setBack = new Date(now.getTime() + CLOCK_TOLERANCE_MS);
      return busyOrganizations(tx, now, setBack);
    });
  }

  private async evaluateChanges(tx: WorkerTransaction, index: SegmentIndex, now: Date): Promise<boolean> {
    const changes = await takeChanges(tx, now, CHANGES_AT_ONCE);
    const due = await dueContacts(tx, now, DUE_AT_ONCE);
    if (changes.length === 0 && due.length === 0) return false;
    const tasks = addDue(index, tasksOf(index, changes), await readDueTimes(tx, due), now);
    try {
      await tx.savepoint(() => this.evaluation.run(tx, index, tasks, now));
    } catch (error) {
      if (isTransient(error) && !ranOut(error)) throw error;
      log.warn({ err: error, contacts: tasks.size }, 'Contacts are evaluated singly, for one of them fails');
      await this.failed.evaluateSingly(tx, index, tasks, changes, now);
    }
    return true;
  }
}
