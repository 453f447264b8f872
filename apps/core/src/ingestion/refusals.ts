import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Clock, Database, isDatabaseUnavailable, ranOut } from '@customer-platform/database';
import { ItemBackoff, log, PollingJob } from '@customer-platform/http';

/** Its name in metrics and log lines. */
const JOB = 'refused-events';
/** How often what was counted is written down. */
const WRITE_EVERY_MS = 1_000;

const ADD = `
  INSERT INTO usage_refusals AS day (organization_id, day, refused) VALUES ($1, $2, $3)
  ON CONFLICT (organization_id, day) DO UPDATE SET refused = day.refused + excluded.refused`;

/**
 * Counts the events that were answered 4xx after authentication, by organization and UTC day. They are outside the
 * law of conservation, so they are counted in memory and written once a second: no refusal waits for the database.
 */
@Injectable()
export class Refusals implements OnModuleInit, OnModuleDestroy {
  private readonly job = new PollingJob({
    name: JOB,
    takes: 'counts of refusals, kept in memory',
    everyMs: WRITE_EVERY_MS,
    pass: () => this.writeNow(),
  });
  private readonly backoff: ItemBackoff;
  private counts = new Map<string, number>();
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.backoff = new ItemBackoff(JOB, clock);
  }

  onModuleInit(): void {
    this.job.start();
  }

  /** The last requests have been answered by then, and the database is still open. */
  async onModuleDestroy(): Promise<void> {
    await this.job.stop();
    await this.write();
  }

  /** Counts `events` refusals of today. */
  count(organizationId: string, events: number): void {
    const day = this.clock.now().toISOString().slice(0, 10);
    const entry = `${organizationId} ${day}`;
    this.counts.set(entry, (this.counts.get(entry) ?? 0) + events);
  }

  /** Resolves when all that was counted before is in the database, or could not be written and is kept. */
  async write(): Promise<void> {
    try {
      await this.writeNow();
    } catch (error) {
      log.warn({ err: error }, 'The count of refused events could not be written; it is kept');
    }
  }

  /** One after the other: none is told that all is written while another still writes. */
  private writeNow(): Promise<void> {
    this.writing = Promise.allSettled([this.writing]).then(() => this.writeAll());
    return this.writing;
  }

  /** Keeps what cannot be written, and writes the others. @throws an outage, once all have been tried */
  private async writeAll(): Promise<void> {
    const counts = this.counts;
    this.counts = new Map();
    const outages: unknown[] = [];
    for (const [entry, refused] of counts) {
      const [organizationId = '', day = ''] = entry.split(' ');
      try {
        await this.database.inOrganization({ organizationId }, (tx) =>
          tx.query(ADD, [organizationId, day, refused]),
        );
        this.backoff.passed(entry);
      } catch (error) {
        if (isDatabaseUnavailable(error) && !ranOut(error)) outages.push(error);
        else this.backoff.failed(entry, error);
        this.counts.set(entry, (this.counts.get(entry) ?? 0) + refused);
      }
    }
    if (outages.length > 0) throw outages[0];
  }
}
