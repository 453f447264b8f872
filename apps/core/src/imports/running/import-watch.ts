import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { metrics, WorkerJob } from '@customer-platform/http';
import { Gauge } from 'prom-client';

const LOOK_EVERY_MS = 30_000;

const stillFor = new Gauge({
  name: 'import_longest_still_seconds',
  help: 'For how long the open import has not moved that has stood longest; those behind an earlier one of their organization are not asked; 0 while none is open',
  registers: [metrics],
});
const open = new Gauge({
  name: 'imports_open',
  help: 'Imports that have not ended, of all organizations',
  registers: [metrics],
});

/** Rows are done where it was updated; a turn that failed is none. */
const LOOK = `
  SELECT count(*)::int AS open,
         coalesce(extract(epoch FROM $1::timestamptz - min(updated_at) FILTER (WHERE place = 1)), 0)::float8 AS still
    FROM (SELECT updated_at, row_number() OVER (PARTITION BY organization_id ORDER BY created_at, id) AS place
            FROM imports WHERE state IN ('queued', 'running')) AS import`;

/** Shows whether imports come on, whatever holds them: a file, a fault, an outbox that is behind. Runs where PROCESS_ROLE is not api. */
@Injectable()
export class ImportWatch extends WorkerJob {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    super({ name: 'import-watch', takes: null, everyMs: LOOK_EVERY_MS });
  }

  protected override pass(): Promise<void> {
    return this.look();
  }

  /** Brings the metrics up to date. */
  async look(): Promise<void> {
    const [seen] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ open: number; still: number }>(LOOK, [this.clock.now()]),
    );
    open.set(seen?.open ?? 0);
    stillFor.set(Math.max(0, seen?.still ?? 0));
    this.job.progressed();
  }
}
