import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Database, uuids, type WorkerTransaction } from '@customer-platform/database';
import { Batcher, log, PollingJob } from '@customer-platform/http';
import { TaxonomyCatalog } from '../taxonomy-catalog.js';
import { Enforcement } from './enforcement.js';
import { INSTALLATION_COLUMNS, type Installation } from './installation.js';

/** Organizations kept at most; the one that was not asked for the longest goes first. */
const MOST_KEPT = 20_000;
/** How often it is asked what was installed. */
const LOOK_EVERY_MS = 1_000;
/** So far back each look goes: what committed late, or out of its order, is told all the same. */
const LOOKS_BACK_S = 60;
/** After so long without a look something may have been missed: everything is read anew. */
const MISSES_AFTER_MS = (LOOKS_BACK_S - 15) * 1_000;
/** How long the first event of an organization waits for what it has installed. */
const FIRST_WAIT_MS = 250;
/** After it could not be read nobody waits for so long. */
const REST_MS = 1_000;

const OF_ALL = `
  SELECT ${INSTALLATION_COLUMNS} FROM taxonomy_installations WHERE organization_id = ANY ($1::uuid[])
   ORDER BY organization_id, slug`;

const CHANGED = `
  SELECT ${INSTALLATION_COLUMNS} FROM taxonomy_installations
   WHERE organization_id IN (SELECT organization_id FROM taxonomy_installations
                              WHERE updated_at > clock_timestamp() - ${LOOKS_BACK_S} * interval '1 second')
   ORDER BY organization_id, slug`;

interface Kept {
  readonly enforcement: Enforcement;
  /** When the read began; nothing older takes its place. Milliseconds of the process's monotonic clock. */
  readonly readAt: number;
  /** What is kept of an earlier age is read anew when it is asked for. */
  readonly age: number;
}

/**
 * What the organizations demand of their events, as ingestion knows it without asking the database for each event: read
 * when an organization is asked for first, and followed from then on by one look a second at what was installed lately.
 * What one instance installs counts on every other within two seconds. While the database is away the last known
 * stands; of an organization of which nothing is known all events are taken, and the worker warns of them.
 */
@Injectable()
export class Enforcements implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly kept = new Map<string, Kept>();
  private readonly nothing: Enforcement;
  private readonly job = new PollingJob({
    name: 'taxonomy-installations',
    takes: null,
    everyMs: LOOK_EVERY_MS,
    longestPauseMs: 2_000,
    pass: () => this.look(),
  });
  private readonly reads = new Batcher<string, Enforcement>({ run: (ids) => this.readAll(ids), enough: 500 });
  private age = 0;
  private lookedAt = performance.now();
  private missed = false;
  private restsUntil = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly catalog: TaxonomyCatalog,
  ) {
    this.nothing = new Enforcement(catalog, []);
  }

  onApplicationBootstrap(): void {
    this.catalog.prepare();
    if (readConfig(serviceConfig).PROCESS_ROLE !== 'worker') this.job.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.job.stop();
  }

  /** What is known of the organization; undefined where it has to be read. */
  peek(organizationId: string): Enforcement | undefined {
    const kept = this.kept.get(organizationId);
    if (!kept || kept.age !== this.age) return undefined;
    this.keep(organizationId, kept);
    return kept.enforcement;
  }

  /** As `peek`, and read where it has to be: for a quarter of a second at most. Never throws. */
  async of(organizationId: string): Promise<Enforcement> {
    const known = this.peek(organizationId);
    if (known) return known;
    const lastKnown = this.kept.get(organizationId)?.enforcement ?? this.nothing;
    if (performance.now() < this.restsUntil) return lastKnown;
    const ended = new AbortController();
    const late = pause(FIRST_WAIT_MS, undefined, { ref: false, signal: ended.signal }).then(
      () => this.unread(new Error('The database is slow to answer')),
      () => undefined,
    );
    const read = this.reads.add(organizationId).catch((error: unknown) => this.unread(error));
    try {
      return (await Promise.race([read, late])) ?? lastKnown;
    } finally {
      ended.abort();
    }
  }

  /** What is read within the transaction of a worker: exact, in one statement for all. */
  async ofAll(tx: WorkerTransaction, organizationIds: readonly string[]): Promise<Map<string, Enforcement>> {
    const asked = uuids([...new Set(organizationIds)].sort());
    return this.byOrganization(await tx.prepared<Installation>(OF_ALL, [asked]));
  }

  /** This instance has installed something; these are all that the organization has since the commit. */
  put(organizationId: string, installations: readonly Installation[]): void {
    const enforcement = new Enforcement(this.catalog, installations);
    this.keep(organizationId, { enforcement, readAt: performance.now(), age: this.age });
  }

  /** @throws what says that the database is away */
  private async look(): Promise<void> {
    const began = performance.now();
    const rows = await this.changed();
    // A database that was away may have another clock since.
    if (this.missed || began - this.lookedAt > MISSES_AFTER_MS) this.age += 1;
    this.missed = false;
    this.lookedAt = began;
    for (const [organizationId, enforcement] of this.byOrganization(rows)) {
      // Its place among the others is that of the last event.
      const kept = this.kept.get(organizationId);
      if (kept && kept.readAt <= began)
        this.kept.set(organizationId, { enforcement, readAt: began, age: kept.age });
    }
  }

  private async changed(): Promise<Installation[]> {
    try {
      return await this.database.acrossOrganizations((tx) => tx.prepared<Installation>(CHANGED, []));
    } catch (error) {
      this.missed = true;
      throw error;
    }
  }

  private async readAll(organizationIds: readonly string[]): Promise<Enforcement[]> {
    const { age } = this;
    const readAt = performance.now();
    const asked = uuids([...new Set(organizationIds)]);
    const rows = await this.database.acrossOrganizations((tx) => tx.prepared<Installation>(OF_ALL, [asked]));
    const found = this.byOrganization(rows);
    return organizationIds.map((id) => {
      const kept = this.kept.get(id);
      if (kept && kept.readAt > readAt) return kept.enforcement;
      const enforcement = found.get(id) ?? this.nothing;
      this.keep(id, { enforcement, readAt, age });
      return enforcement;
    });
  }

  private byOrganization(rows: readonly Installation[]): Map<string, Enforcement> {
    const groups = Map.groupBy(rows, ({ organizationId }) => organizationId);
    return new Map([...groups].map(([id, own]) => [id, new Enforcement(this.catalog, own)]));
  }

  /** Put last, so that the one that was not asked for the longest is the first to go. */
  private keep(organizationId: string, kept: Kept): void {
    this.kept.delete(organizationId);
    this.kept.set(organizationId, kept);
    if (this.kept.size <= MOST_KEPT) return;
    const [oldest] = this.kept.keys();
    if (oldest !== undefined) this.kept.delete(oldest);
  }

  private unread(error: unknown): undefined {
    const now = performance.now();
    if (now >= this.restsUntil)
      log.warn({ err: error }, 'Installed taxonomies cannot be read; what was known last stands');
    this.restsUntil = now + REST_MS;
  }
}
