import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  Clock,
  Database,
  isTransient,
  ranOut,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import { isInfrastructureError } from '@customer-platform/event-bus';
import { ItemBackoff, LatestTurns, log, PollingJob, type TurnOwner } from '@customer-platform/http';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { Tenants } from '../organizations/tenants.js';

/** What is done to many rows behind a request or an event that has been answered. */
export type JobKind =
  | 'cancel_sends_of_rule'
  | 'release_sends'
  | 'resume_deliveries'
  | 'forget_deliveries'
  | 'erase_deliveries'
  | 'replay_deliveries'
  | 'forget_campaign';

/** One job; of a kind and target there is one at a time. */
export interface Job {
  readonly organization_id: string;
  readonly kind: JobKind;
  readonly target_id: string;
  /** What came into being later is not meant. */
  readonly until: Date;
  readonly position: string | null;
}

/** What a piece of a job leaves. */
export type Piece =
  | 'done'
  /** There is more: now, or `later`, when there is room for it. */
  | { readonly position: string | null; readonly later?: boolean }
  /** What is left is in other hands for the moment. */
  | 'later';

/** Does the next piece, in one short transaction. Repeatable: a piece that was not committed is done again. */
type JobWork = (tx: WorkerTransaction, job: Job) => Promise<Piece>;

/** Rows of one piece: its transaction holds their locks for some tens of milliseconds. */
export const ROWS_OF_A_PIECE = 500;
const EVERY_MS = 1_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** After a time limit or an outage, which say nothing of the job. */
const PAUSE_MS = 10_000;

/** Of a kind and target the later request counts, from the beginning. */
const ADD = `
  INSERT INTO background_jobs AS j (organization_id, kind, target_id, until, due_at) VALUES ($1, $2, $3, $4, $4)
  ON CONFLICT (organization_id, kind, target_id) DO UPDATE
    SET until = greatest(j.until, excluded.until), position = NULL, due_at = excluded.due_at`;

/** Costs as much as there are organizations with jobs, however many jobs one of them has. */
const ORGANIZATIONS = `
  WITH RECURSIVE organizations AS (
    (SELECT organization_id AS id FROM background_jobs ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT organization_id FROM background_jobs WHERE organization_id > organizations.id
             ORDER BY organization_id LIMIT 1)
      FROM organizations WHERE organizations.id IS NOT NULL
  )
  SELECT id, (SELECT max(worked_at) FROM background_jobs WHERE organization_id = organizations.id) AS worked_at
    FROM organizations WHERE id IS NOT NULL ORDER BY 2, 1`;

/**
 * The job that was longest without a piece, of the first of these organizations that has one which is due and free: no other
 * row is locked. Without those that cannot be put off.
 */
const TAKE = `
  SELECT j.organization_id, j.kind, j.target_id, j.until, j.position
    FROM unnest($3::uuid[]) AS turns (id), LATERAL (
      SELECT * FROM background_jobs
       WHERE organization_id = turns.id AND due_at <= $1
         AND NOT concat_ws('/', organization_id, kind, target_id) = ANY($2::text[])
       ORDER BY worked_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS j
   LIMIT 1`;

/**
 * An ANALYZE in the middle of many jobs has all of an organization's sorted for each that is taken: the next is read from
 * its index, whatever statistics say. What the job does is planned as ever.
 */
const IN_ORDER =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off';
const AS_USUAL = `
  SELECT set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true),
         set_config('enable_sort', 'on', true)`;

const ONE = 'organization_id = $1 AND kind = $2 AND target_id = $3';
const FINISH = `DELETE FROM background_jobs WHERE ${ONE}`;
const GO_ON = `
  UPDATE background_jobs SET position = $4, due_at = $5, worked_at = clock_timestamp(), failures = 0 WHERE ${ONE}`;
const FAIL = `
  UPDATE background_jobs SET failures = failures + 1, worked_at = clock_timestamp(),
         due_at = $4::timestamptz + least(power(2, least(failures, 9)) * interval '1 s', make_interval(secs => $5))
   WHERE ${ONE}`;
const PAUSE = `
  UPDATE background_jobs SET worked_at = clock_timestamp(), due_at = $4::timestamptz + make_interval(secs => $5)
   WHERE ${ONE}`;

/**
 * Goes through any number of rows in pieces (rows of one piece, then its commit), so that no lock and no transaction
 * lasts as long as a tenant has rows. A job is a row: a process that dies leaves it to the others. One that fails
 * waits, longer each time, and holds up no other.
 */
@Injectable()
export class BackgroundJobs implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly works = new Map<JobKind, JobWork>();
  private readonly looking = new PollingJob({
    name: 'background-jobs',
    takes: 'rows of background_jobs',
    everyMs: EVERY_MS,
    pass: () => this.runAll(),
  });

  /** Tells of jobs that fail, and keeps from the turns those of which not even the failure can be written down. */
  private readonly backoff: ItemBackoff;
  private readonly latest = new LatestTurns();

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly tenants: Tenants,
  ) {
    this.backoff = new ItemBackoff('background-jobs', clock);
  }

  /** Says how a kind of job is done. */
  handle(kind: JobKind, work: JobWork): void {
    this.works.set(kind, work);
  }

  /** Begins a job with the caller's transaction. */
  async add(tx: Transaction, kind: JobKind, targetId: string): Promise<void> {
    await tx.query(ADD, [tx.organizationId, kind, targetId, this.clock.now()]);
    tx.afterCommit(() => {
      if (this.config.worker) this.looking.wake();
    });
  }

  onApplicationBootstrap(): void {
    if (this.config.worker) this.looking.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.looking.stop();
  }

  private runAll(): Promise<boolean> {
    return this.looking.drain(() => this.piece());
  }

  /** Does one piece of one job. @returns whether there was one */
  async piece(): Promise<boolean> {
    let taken: Job | undefined;
    try {
      const taking = async (tx: WorkerTransaction): Promise<void> => {
        const turns = await this.turns(tx);
        const [job] = await tx.query<Job>(TAKE, [this.clock.now(), this.backoff.waiting(), turns]);
        // Of a transaction that begins anew the job may be another one, or none.
        taken = job;
        if (job) this.latest.had(this.ownerOf(job.organization_id));
        else if (turns.length === 0) this.latest.forget();
        if (!job) return;
        await tx.query(AS_USUAL);
        await this.advance(tx, job);
      };
      await this.database.acrossOrganizations(taking, { settings: IN_ORDER });
      if (taken) this.backoff.passed(place(taken).join('/'));
    } catch (error) {
      if (!taken) throw error;
      await this.putOff(taken, error);
    }
    return taken !== undefined;
  }

  /** The organizations with jobs: tenants take turns, in a tenant its organizations, then comes whose job was longest without a piece. */
  private async turns(tx: WorkerTransaction): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(ORGANIZATIONS);
    return this.latest
      .inOrder(rows.map(({ id }) => this.ownerOf(id)))
      .map(({ organizationId }) => organizationId);
  }

  private ownerOf(organizationId: string): TurnOwner {
    return { tenant: this.tenants.of(organizationId), organizationId };
  }

  private async advance(tx: WorkerTransaction, job: Job): Promise<void> {
    const work = this.works.get(job.kind);
    if (!work) throw new Error(`nothing does jobs of the kind ${job.kind}`);
    await tx.useOrganization(job.organization_id);
    const left = await work(tx, job);
    if (left === 'done') {
      await tx.query(FINISH, place(job));
      return;
    }
    const now = this.clock.now();
    const { position, later = false } = left === 'later' ? { position: null, later: true } : left;
    const dueAt = later ? new Date(now.getTime() + EVERY_MS) : now;
    await tx.query(GO_ON, [...place(job), position, dueAt]);
  }

  /** @throws an outage, which stops all jobs alike */
  private async putOff(job: Job, error: unknown): Promise<void> {
    const outage = isInfrastructureError(error);
    if (outage && !ranOut(error)) {
      const said = { err: error, kind: job.kind, target: job.target_id };
      log.warn(said, 'A piece of a background job met an outage; it is tried again');
    } else this.backoff.failed(place(job).join('/'), error);
    const [statement, most] = outage ? [PAUSE, PAUSE_MS] : [FAIL, LONGEST_PAUSE_MS];
    try {
      await this.database.acrossOrganizations((tx) =>
        tx.query(statement, [...place(job), this.clock.now(), most / 1_000]),
      );
    } catch (failure) {
      if (isTransient(failure)) throw failure;
      this.backoff.failed(place(job).join('/'), failure);
    }
  }
}

function place({ organization_id, kind, target_id }: Job): [string, JobKind, string] {
  return [organization_id, kind, target_id];
}
