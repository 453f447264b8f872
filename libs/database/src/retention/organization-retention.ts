import { setTimeout as pause } from 'node:timers/promises';
import type { OnApplicationBootstrap, OnModuleDestroy, Provider } from '@nestjs/common';
import { InternalClient, Tenants } from '@customer-platform/authorization';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { ItemBackoff, metrics, PollingJob, TurnLine, type KnownTenants } from '@customer-platform/http';
import { Counter, Gauge } from 'prom-client';
import { Clock } from '../clock.js';
import { Database } from '../database.js';
import { isTransient, ranOut } from '../errors.js';
import type { Transaction } from '../transaction.js';
import type { RetainedKind, Removal } from './retention-kinds.js';
import { RetentionPeriods } from './retention-periods.js';

/** Its name in metrics and log lines. */
const JOB = 'organization-retention';
const EVERY_MS = 10 * 60_000;
/** A pass that has more to do ends after so long and begins anew: with what holds then, and what is left told. */
const PASS_MS = 5 * 60_000;
/** Where all that is left is in other instances' hands. */
const LOOK_AGAIN_MS = 100;
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

/** The row keeps a second instance off, and a change of the period waits for the piece that goes by the one before. The
 * clock of a process that is ahead of the database's removes nothing earlier. */
const IN_FORCE = `
  SELECT days, least($3::timestamptz, now()) AS now FROM retention_periods
   WHERE organization_id = $1 AND kind = $2 AND days IS NOT NULL FOR UPDATE SKIP LOCKED`;

const IS_IN_FORCE = `
  SELECT FROM retention_periods WHERE organization_id = $1 AND kind = $2 AND days IS NOT NULL`;

const NOTE = `
  UPDATE retention_periods SET removed = removed + $3, removed_until = greatest(removed_until, $4)
   WHERE organization_id = $1 AND kind = $2`;

const WITH_PERIOD = `
  SELECT organization_id AS "organizationId", kind FROM retention_periods
   WHERE kind = ANY($1::text[]) AND days IS NOT NULL ORDER BY organization_id, kind`;

/** Another instance is at it. */
const HELD = 'held';

/** An organization and what of it is removed, as far as a pass has come with it. */
interface Turn {
  readonly organizationId: string;
  readonly kind: RetainedKind;
  readonly after?: readonly string[];
}

/**
 * Removes what organizations want kept for a while only, in pieces, tenants in turn and in a tenant its organizations, by
 * what identity says at that time: while identity is away nothing is removed. Several instances are harmless at once. What a piece removed is
 * noted in its transaction. Runs where PROCESS_ROLE is not api.
 */
export class OrganizationRetention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly job = new PollingJob({
    name: JOB,
    takes: 'rows of retention_periods',
    everyMs: EVERY_MS,
    pass: () => this.pass(),
  });
  private readonly backoff: ItemBackoff;
  private readonly line: TurnLine;
  private readonly periods: RetentionPeriods;
  private learntAt = -Infinity;
  /** Organizations whose period is not known now: nothing of theirs is removed. */
  private unknown: ReadonlySet<string> = new Set();

  constructor(
    private readonly database: Database,
    client: InternalClient,
    private readonly clock: Clock,
    private readonly kinds: readonly RetainedKind[],
    tenants: KnownTenants,
  ) {
    this.line = new TurnLine(tenants);
    this.backoff = new ItemBackoff(JOB, clock, 3 * EVERY_MS);
    this.periods = new RetentionPeriods(
      database,
      client,
      kinds.map(({ kind }) => kind),
      this.backoff,
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
    return (await this.goThrough(rowsAtOnce, Infinity)).removed;
  }

  private async pass(): Promise<void> {
    const { isDone } = await this.goThrough(ROWS_AT_ONCE, PASS_MS);
    if (!isDone) this.job.wake();
  }

  /** Whose turn it would have been when it ends has it in the next one. */
  private async goThrough(
    rowsAtOnce: number,
    lastsMs: number,
  ): Promise<{ removed: number; isDone: boolean }> {
    const begun = performance.now();
    await this.learn();
    const left = Map.groupBy(await this.turns(), ({ organizationId }) => organizationId);
    const isOver = (): boolean => this.job.stopping || performance.now() - begun > lastsMs;
    let removed = 0;
    const piece = async (organizationId: string, failed: () => void): Promise<boolean> => {
      const [turn, ...others] = left.get(organizationId) ?? [];
      if (!turn) return false;
      if (performance.now() - this.learntAt > FRESH_MS) await this.learn();
      const done = await this.take(turn, rowsAtOnce, failed);
      if (done !== HELD) removed += done?.removed ?? 0;
      this.job.progressed();
      const further = furtherTurns(turn, done);
      const after = [...others, ...further];
      if (after.length > 0) left.set(organizationId, after);
      else left.delete(organizationId);
      return after.length > 0 && done !== HELD;
    };
    while (left.size > 0 && !isOver()) {
      await this.line.goThrough(() => Promise.resolve([...left.keys()]), piece, isOver);
      if (left.size > 0 && !isOver()) await pause(LOOK_AGAIN_MS);
    }
    if (this.job.stopping) return { removed, isDone: true };
    await this.measure();
    return { removed, isDone: left.size === 0 };
  }

  private async learn(): Promise<void> {
    this.unknown = await this.periods.learn(this.clock.now());
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
  private async take(
    turn: Turn,
    most: number,
    failed: () => void,
  ): Promise<Removal | typeof HELD | undefined> {
    const { organizationId, kind } = turn;
    const item = `${kind.kind} ${organizationId}`;
    if (this.unknown.has(organizationId) || this.backoff.waits(item)) return undefined;
    try {
      const done = await this.remove(turn, most);
      if (done === HELD) return HELD;
      this.backoff.passed(item);
      if (done) removedRows.inc({ kind: kind.kind }, done.removed);
      return done;
    } catch (error) {
      // What is given up because the process ends is no failure.
      if (this.job.stopping) return undefined;
      this.backoff.failed(item, error);
      // What ran out of time or memory may be this organization's doing, however often.
      if (isTransient(error) && !ranOut(error)) throw error;
      failed();
      return undefined;
    }
  }

  private remove(
    { organizationId, kind, after }: Turn,
    most: number,
  ): Promise<Removal | typeof HELD | undefined> {
    const work = async (tx: Transaction): Promise<Removal | typeof HELD | undefined> => {
      const key = [organizationId, kind.kind];
      const [period] = await tx.query<{ days: number; now: Date }>(IN_FORCE, [...key, this.clock.now()]);
      if (!period) return (await tx.query(IS_IN_FORCE, key)).length > 0 ? HELD : undefined;
      const { now } = period;
      const before = new Date(now.getTime() - period.days * DAY_MS);
      const done = await kind.remove(tx, { before, now, most, after });
      if (done.removed > 0) await tx.query(NOTE, [organizationId, kind.kind, done.removed, done.until]);
      return done;
    };
    return this.database.inOrganization({ organizationId }, work, { signal: this.job.signal });
  }

  /** What is left beyond its period: held by something that still needs it, or not come to yet. */
  private async measure(): Promise<void> {
    const worst = new Map(this.kinds.map(({ kind }) => [kind as string, 0]));
    for (const { organizationId, kind } of await this.turns()) {
      if (this.job.stopping) return;
      const late = await this.late(organizationId, kind);
      worst.set(kind.kind, Math.max(worst.get(kind.kind) ?? 0, late));
    }
    for (const [kind, seconds] of worst) overdue.set({ kind }, seconds);
  }

  /** In seconds; 0 where it cannot be told now, which is an item of its own that failed. */
  private async late(organizationId: string, kind: RetainedKind): Promise<number> {
    const item = `measuring ${kind.kind} ${organizationId}`;
    if (this.backoff.waits(item)) return 0;
    try {
      const late = await this.database.inOrganization({ organizationId }, async (tx) => {
        const [period] = await tx.query<{ days: number | null }>(
          'SELECT days FROM retention_periods WHERE organization_id = $1 AND kind = $2',
          [organizationId, kind.kind],
        );
        const oldest = await kind.oldest(tx);
        if (period?.days == null || oldest === null) return 0;
        return (this.clock.now().getTime() - period.days * DAY_MS - oldest.getTime()) / 1_000;
      });
      this.backoff.passed(item);
      return late;
    } catch (error) {
      this.backoff.failed(item, error);
      return 0;
    }
  }
}

/** What is left of it: all where another instance is at it. */
function furtherTurns(turn: Turn, done: Removal | typeof HELD | undefined): Turn[] {
  if (done === HELD) return [turn];
  return done?.next ? [{ ...turn, after: done.next }] : [];
}

/** {@link OrganizationRetention} as a module's provider: it runs by itself for as long as the application does. */
export function organizationRetention(...kinds: readonly RetainedKind[]): Provider {
  return {
    provide: OrganizationRetention,
    useFactory: (database: Database, client: InternalClient, clock: Clock, tenants: Tenants) =>
      new OrganizationRetention(database, client, clock, kinds, tenants),
    inject: [Database, InternalClient, Clock, Tenants],
  };
}
