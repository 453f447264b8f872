import type { OnApplicationBootstrap, OnModuleDestroy, Provider } from '@nestjs/common';
import { InternalClient } from '@customer-platform/authorization';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { metrics, PollingJob, Setbacks } from '@customer-platform/http';
import { Counter, Gauge } from 'prom-client';
import { Clock } from '../clock.js';
import { Database } from '../database.js';
import { isTransient } from '../errors.js';
import type { RetainedKind, Removal } from './retention-kinds.js';
import { RetentionPeriods } from './retention-periods.js';

/** As metrics and log lines call it. */
const JOB = 'organization-retention';
const EVERY_MS = 10 * 60_000;
const DAY_MS = 86_400_000;
/** Of one transaction, so that none is long. */
const ROWS_AT_ONCE = 1_000;
/** What identity said longer ago is asked anew before anything else is removed by it. */
const FRESH_MS = 60_000;

const removedRows = new Counter({
  name: 'retention_removed_total',
  help: 'Rows whose time by the period of their organization was over, and which were removed or emptied',
  labelNames: ['kind'],
  registers: [metrics],
});
const overdue = new Gauge({
  name: 'retention_overdue_seconds',
  help: 'After the last pass, how far beyond its period the oldest row lies that is still there, by kind; 0: none',
  labelNames: ['kind'],
  registers: [metrics],
});

/** The row keeps a second instance off, and a change of the period waits for the piece that goes by the one before. */
const IN_FORCE = `
  SELECT days FROM retention_periods
   WHERE organization_id = $1 AND kind = $2 AND days IS NOT NULL FOR UPDATE SKIP LOCKED`;

const NOTE = `
  UPDATE retention_periods SET removed = removed + $3, removed_until = greatest(removed_until, $4)
   WHERE organization_id = $1 AND kind = $2`;

const WITH_PERIOD = `
  SELECT organization_id AS "organizationId", kind FROM retention_periods
   WHERE kind = ANY($1::text[]) AND days IS NOT NULL ORDER BY organization_id, kind`;

/** An organization and what of it is removed, as far as a pass has come with it. */
interface Turn {
  readonly organizationId: string;
  readonly kind: RetainedKind;
  readonly after?: readonly string[];
}

/**
 * Removes what organizations want kept for a while only, in pieces, organizations in turn, by what identity says at
 * that time: while identity is away nothing is removed. Several instances are harmless at once. What a piece removed is
 * noted in its transaction. Runs where PROCESS_ROLE is not api.
 */
export class OrganizationRetention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly job = new PollingJob({ name: JOB, everyMs: EVERY_MS, pass: () => this.sweep() });
  private readonly setbacks: Setbacks;
  private readonly periods: RetentionPeriods;
  private learntAt = -Infinity;

  constructor(
    private readonly database: Database,
    client: InternalClient,
    private readonly clock: Clock,
    private readonly kinds: readonly RetainedKind[],
  ) {
    this.setbacks = new Setbacks(JOB, clock);
    this.periods = new RetentionPeriods(
      database,
      client,
      kinds.map(({ kind }) => kind),
    );
  }

  onApplicationBootstrap(): void {
    for (const { kind } of this.kinds) removedRows.inc({ kind }, 0);
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.job.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.job.stop();
  }

  /**
   * Removes all that has had its time, until the process ends.
   * @returns how many rows went
   * @throws Problem `dependency_unavailable` while identity does not say for how long things are kept
   */
  async sweep(rowsAtOnce = ROWS_AT_ONCE): Promise<number> {
    await this.learn();
    let removed = 0;
    for (let turns = await this.turns(); turns.length > 0;) {
      const left: Turn[] = [];
      for (const turn of turns) {
        if (this.job.stopping) return removed;
        if (performance.now() - this.learntAt > FRESH_MS) await this.learn();
        const done = await this.take(turn, rowsAtOnce);
        removed += done?.removed ?? 0;
        if (done?.next) left.push({ ...turn, after: done.next });
        this.job.progressed();
      }
      turns = left;
    }
    await this.measure();
    return removed;
  }

  private async learn(): Promise<void> {
    await this.periods.learn(this.clock.now());
    this.learntAt = performance.now();
  }

  private async turns(): Promise<Turn[]> {
    const rows = await this.database.acrossOrganizations((tx) =>
      tx.query<{ organizationId: string; kind: string }>(WITH_PERIOD, [this.kinds.map(({ kind }) => kind)]),
    );
    return rows.flatMap(({ organizationId, kind }) => {
      const kinds = this.kinds.filter((each) => each.kind === kind);
      return kinds.map((each) => ({ organizationId, kind: each }));
    });
  }

  /** One piece; undefined where there is nothing to do, or it failed, and is tried again in a later pass. */
  private async take(turn: Turn, most: number): Promise<Removal | undefined> {
    const { organizationId, kind } = turn;
    const item = `${kind.kind} ${organizationId}`;
    if (this.setbacks.waits(item)) return undefined;
    try {
      const done = await this.remove(turn, most);
      this.setbacks.passed(item);
      if (done) removedRows.inc({ kind: kind.kind }, done.removed);
      return done;
    } catch (error) {
      this.setbacks.failed(item, error);
      if (isTransient(error)) throw error;
      return undefined;
    }
  }

  private remove({ organizationId, kind, after }: Turn, most: number): Promise<Removal | undefined> {
    return this.database.inOrganization({ organizationId }, async (tx) => {
      const [period] = await tx.query<{ days: number }>(IN_FORCE, [organizationId, kind.kind]);
      if (!period) return undefined;
      const now = this.clock.now();
      const before = new Date(now.getTime() - period.days * DAY_MS);
      const done = await kind.remove(tx, { before, now, most, after });
      if (done.removed > 0) await tx.query(NOTE, [organizationId, kind.kind, done.removed, done.until]);
      return done;
    });
  }

  /** What is left beyond its period: held by something that still needs it, or not come to yet. */
  private async measure(): Promise<void> {
    const worst = new Map(this.kinds.map(({ kind }) => [kind as string, 0]));
    for (const { organizationId, kind } of await this.turns()) {
      if (this.job.stopping) return;
      const late = await this.database.inOrganization({ organizationId }, async (tx) => {
        const [period] = await tx.query<{ days: number | null }>(
          'SELECT days FROM retention_periods WHERE organization_id = $1 AND kind = $2',
          [organizationId, kind.kind],
        );
        const oldest = await kind.oldest(tx);
        if (period?.days == null || oldest === null) return 0;
        return (this.clock.now().getTime() - period.days * DAY_MS - oldest.getTime()) / 1_000;
      });
      worst.set(kind.kind, Math.max(worst.get(kind.kind) ?? 0, late));
    }
    for (const [kind, seconds] of worst) overdue.set({ kind }, seconds);
  }
}

/** {@link OrganizationRetention} as a module's provider: it runs by itself for as long as the application does. */
export function organizationRetention(...kinds: readonly RetainedKind[]): Provider {
  return {
    provide: OrganizationRetention,
    useFactory: (database: Database, client: InternalClient, clock: Clock) =>
      new OrganizationRetention(database, client, clock, kinds),
    inject: [Database, InternalClient, Clock],
  };
}
