import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, ItemJob, timeOfId, type WorkerTransaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import type { FieldValues } from '../../fields/field.js';
import type { FieldIndex, KnownDefinition } from '../definitions/known-definition.js';
import { KnownDefinitions } from '../definitions/known-definitions.js';
import { fillIndex } from '../records/derived-rows.js';
import { IndexDrops } from './index-drops.js';
import { JOB_COLUMNS, type IndexJob } from './index-jobs.js';

/** Its name in metrics and log lines. */
const JOB = 'object-indexes';
const LOOK_EVERY_MS = 500;
/** Records of one transaction: whoever writes one of them waits for that long. */
const PIECE = 500;
/** Enough for the indexes of a few records. */
const STEPS_AT_ONCE = 6;

/** Their time comes in milliseconds, as it is stored. */
const DUE = 'moved_at <= statement_timestamp()::timestamptz(3)';
/**
 * They take turns: one of a million records holds up nobody else's. What another process works on is passed over, and so
 * is what failed a while ago, by its name.
 */
const NEXT = `
  SELECT own.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT ${JOB_COLUMNS} FROM object_index_jobs
     WHERE organization_id = turn.organization_id AND definition_id || ' ' || number <> ALL($2::text[]) AND ${DUE}
     ORDER BY moved_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS own
   LIMIT 1`;
const OWNERS = `
  SELECT organization_id FROM object_index_jobs WHERE definition_id || ' ' || number <> ALL($1::text[]) AND ${DUE}
   GROUP BY organization_id ORDER BY min(moved_at)`;
const FIRST_BUILT = `
  SELECT ${JOB_COLUMNS} FROM object_index_jobs
   WHERE organization_id = $1 AND definition_id = $2 AND work = 'build' AND ${DUE}
   ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED`;
const LATER = `
  UPDATE object_index_jobs SET moved_at = clock_timestamp() + interval '${String(LOOK_EVERY_MS)} milliseconds'
   WHERE organization_id = $1 AND definition_id = $2 AND number = $3`;

/**
 * In the order of ids, which is that of creation. Whoever changes a record is waited for, and waits; not FOR SHARE, by
 * which the builders of several indexes would pass those who wait.
 */
const RECORDS = `
  SELECT id, "values", deleted_at IS NULL AS live FROM object_records
   WHERE organization_id = $1 AND definition_id = $2 AND (created_at, id) > ($3::timestamptz, $4::uuid)
   ORDER BY created_at, id LIMIT ${String(PIECE)} FOR NO KEY UPDATE`;
const ON = `
  UPDATE object_index_jobs SET cursor_id = $4, processed = $5, moved_at = clock_timestamp()
   WHERE organization_id = $1 AND definition_id = $2 AND number = $3`;
const OVER =
  'DELETE FROM object_index_jobs WHERE organization_id = $1 AND definition_id = $2 AND number = $3';

const INDEXES = `
  SELECT indexes FROM object_definitions WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE`;
const READY = `
  UPDATE object_definitions SET indexes = $3, revision = revision + 1 WHERE organization_id = $1 AND id = $2`;

const NOWHERE = '00000000-0000-0000-0000-000000000000';

interface Row {
  id: string;
  values: FieldValues;
  live: boolean;
}

/**
 * Fills indexes from the records that there are, and removes those that nothing goes by, in pieces: what a process that
 * dies has not committed another one does again.
 */
@Injectable()
export class IndexBuilder extends ItemJob<IndexJob> {
  private readonly drops = new IndexDrops();
  /** Whether this process goes on with what is begun; else one does that looks for it. */
  private worker = false;

  constructor(
    database: Database,
    private readonly definitions: KnownDefinitions,
    clock: Clock,
    tenants: Tenants,
  ) {
    super(
      { name: JOB, takes: 'rows of object_index_jobs', everyMs: LOOK_EVERY_MS },
      database,
      clock,
      tenants,
    );
  }

  protected override start(): void {
    this.worker = true;
    super.start();
  }

  /** The first steps for a definition that was just changed. What fails is left to whoever goes on with it. */
  async begin(organizationId: string, definitionId: string): Promise<void> {
    try {
      for (let step = 0; step < STEPS_AT_ONCE; step += 1) {
        const found = await this.database.acrossOrganizations(async (tx) => {
          const [job] = await tx.query<IndexJob>(FIRST_BUILT, [organizationId, definitionId]);
          if (!job) return false;
          await tx.useOrganization(organizationId);
          await this.work(tx, job);
          return true;
        });
        if (!found) return;
      }
      if (this.worker) this.job.wake();
    } catch (error) {
      log.warn({ err: error, job: JOB }, 'The building of an index goes on later');
    }
  }

  protected owners(
    tx: WorkerTransaction,
    waiting: readonly string[],
  ): Promise<Pick<IndexJob, 'organization_id'>[]> {
    return tx.query(OWNERS, [waiting]);
  }

  protected async next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<IndexJob | undefined> {
    const [job] = await tx.query<IndexJob>(NEXT, [organizationIds, waiting]);
    return job;
  }

  /** Each by itself: one that fails stops no other of its definition. */
  protected nameOf({ definition_id: id, number }: IndexJob): string {
    return `${id} ${String(number)}`;
  }

  /** One whose definition somebody has alone is left for a while: the others do not wait for it. */
  protected async work(tx: WorkerTransaction, job: IndexJob): Promise<void> {
    const { organization_id: organizationId, definition_id: id, number } = job;
    const kept = await this.definitions.keepIfFree(tx, id);
    if (!kept) await tx.query(LATER, [organizationId, id, number]);
    else if (job.work === 'build') await this.buildPiece(tx, job, kept.get(id));
    else await this.dropPiece(tx, job);
  }

  private async dropPiece(tx: WorkerTransaction, job: IndexJob): Promise<void> {
    const key = [job.organization_id, job.definition_id, job.number];
    if (await this.drops.removePiece(tx, job)) await tx.query(ON, [...key, null, 0]);
    else await tx.query(OVER, key);
  }

  private async buildPiece(
    tx: WorkerTransaction,
    job: IndexJob,
    definition: KnownDefinition | undefined,
  ): Promise<void> {
    const { organization_id: organizationId, definition_id: id, number } = job;
    const index = definition?.indexes.find((each) => each.number === number);
    if (!definition || !index) {
      await tx.query(OVER, [organizationId, id, number]);
      return;
    }
    const after = job.cursor_id ?? NOWHERE;
    const rows = await tx.query<Row>(RECORDS, [organizationId, id, timeOfId(after), after]);
    await fillIndex(tx, definition, index, rows);
    const last = rows.at(-1)?.id;
    if (rows.length === PIECE && last !== undefined)
      await tx.query(ON, [organizationId, id, number, last, Number(job.processed) + rows.length]);
    else await finish(tx, job);
  }
}

/** Whoever writes fills the index already; from the commit on lists go by it. */
async function finish(tx: WorkerTransaction, job: IndexJob): Promise<void> {
  const key = [job.organization_id, job.definition_id];
  const [row] = await tx.query<{ indexes: FieldIndex[] }>(INDEXES, key);
  const indexes = (row?.indexes ?? []).map((index) =>
    index.number === job.number ? { ...index, state: 'ready' } : index,
  );
  await tx.query(READY, [...key, JSON.stringify(indexes)]);
  await tx.query(OVER, [...key, job.number]);
}
