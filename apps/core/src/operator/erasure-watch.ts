import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { metrics, WorkerJob } from '@customer-platform/http';
import { Gauge } from 'prom-client';

const LOOK_EVERY_MS = 30_000;

const oldest = new Gauge({
  name: 'erasure_oldest_age_seconds',
  help: 'Age of the oldest erasure that has not ended, by how far it is; asked: core is through, others are waited for',
  labelNames: ['step'],
  registers: [metrics],
});
const refused = new Gauge({
  name: 'erasure_receipts_refused',
  help: 'Receipts of erasures that have not ended which were refused, by the module that they are said to be of',
  labelNames: ['of_module'],
  registers: [metrics],
});
const overdue = new Gauge({
  name: 'subject_requests_overdue',
  help: 'Requests of persons that should have been answered by now',
  registers: [metrics],
});

/** By the indexes of what is open: it costs what is open, however many there were. */
const LOOK = `
  SELECT 'step' AS kind, step AS name, extract(epoch FROM $1::timestamptz - min(created_at))::float8 AS value
    FROM contact_erasures WHERE step <> 'done' GROUP BY step
  UNION ALL
  SELECT 'refused', receipt.module, count(*)::float8
    FROM contact_erasures AS erasure
    JOIN subject_request_receipts AS receipt
      ON receipt.organization_id = erasure.organization_id
     AND receipt.subject_request_id = erasure.subject_request_id
   WHERE erasure.step <> 'done' AND receipt.state = 'refused' GROUP BY receipt.module
  UNION ALL
  SELECT 'overdue', NULL, count(*)::float8
    FROM subject_requests WHERE state IN ('verifying', 'in_progress') AND due_at <= $1`;

interface Seen {
  kind: 'step' | 'refused' | 'overdue';
  name: string;
  value: number;
}

/** Shows what of the erasures and requests of persons waits for somebody. Runs where PROCESS_ROLE is not api. */
@Injectable()
export class ErasureWatch extends WorkerJob {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    super({ name: 'erasure-watch', takes: null, everyMs: LOOK_EVERY_MS });
  }

  protected override pass(): Promise<void> {
    return this.look();
  }

  /** Brings the metrics up to date. */
  async look(): Promise<void> {
    const seen = await this.database.acrossOrganizations((tx) => tx.query<Seen>(LOOK, [this.clock.now()]));
    // Where nothing waits any more nothing is shown, rather than what was last.
    oldest.reset();
    refused.reset();
    for (const { kind, name, value } of seen) {
      if (kind === 'step') oldest.set({ step: name }, value);
      else if (kind === 'refused') refused.set({ of_module: name }, value);
      else overdue.set(value);
    }
    this.job.progressed();
  }
}
