import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { readConfig, serviceConfig } from '@customer-platform/config';
import {
  Clock,
  Database,
  isTransient,
  postgresFailure,
  ranOut,
  WriteConflict,
  type WorkerTransaction,
} from '@customer-platform/database';
import { Outbox, outboxAge } from '@customer-platform/event-bus';
import { ItemBackoff, LatestTurns, log, PollingJob, yieldLoop, turns } from '@customer-platform/http';
import { FileMissing } from '../files/file-store.js';
import { ImportFiles, type LeftFile } from '../files/import-files.js';
import { FileDamaged } from '../files/sealed-blocks.js';
import { contextOfImport, IMPORT_COLUMNS, type ImportTableRow } from '../import.row.js';
import { ImportPiece, type DonePiece, type KeptError } from './import-piece.js';
import { ImportSignal } from './import.signal.js';

/** Its name in metrics and log lines. */
const JOB = 'contact-import';
const SWEEP = 'import-files';
const LOOK_EVERY_MS = 500;
/** Of one transaction: some 200 ms, so that none is long and others come to their turn. */
const ROWS_A_PIECE = 1_000;
/** While events wait longer to be published nothing is added to them: those of live traffic stand in the same queue. */
const OUTBOX_SECONDS = 1;
/** So soon it looks again whether they are published, and so often before it leaves it to the next look. */
const LOOK_BEHIND_MS = 50;
const LOOKS_BEHIND = 20;
/**
 * So long a file that this process does not see is waited for, from when it was missed first and from when the import
 * moved last: another may be the one that sees it.
 */
const FILE_PATIENCE_MS = 3_600_000;
/** An import that was missed, and that somebody else has done, is forgotten after so long. */
const FORGOTTEN_AFTER_MS = 24 * FILE_PATIENCE_MS;
/** So often a piece begins anew at once where it loses to others. */
const RACES = 5;
/** Of an import so many errors are kept; rows that fail beyond it are only counted (core.md §9). */
const MOST_ERRORS = 1_000_000;
/**
 * What PostgreSQL says of values: data, integrity, limits, and what functions, triggers and defects of its own raise. All
 * else (rights, tables that lack, no server) says nothing of a row, and no row is passed over for it.
 */
const OF_VALUES = /^(21...|22...|23...|44...|53400|54...|P0...|XX...)$/;

const SWEEP_EVERY_MS = 600_000;
/** No upload takes so long, and no file is left for so long by an import that goes on. */
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Whose turn it is: of each organization its oldest, so that files are taken in the order in which they came, also where
 * that one cannot go on now. Among these tenants take turns, in a tenant its organizations, then comes the one that waits
 * longest. One of a million rows holds up nobody else's, nor do a thousand organizations of one tenant.
 */
const NEXT = `
  SELECT ${IMPORT_COLUMNS}, coalesce(tenant_id, organization_id) AS tenant FROM imports AS import
   WHERE state IN ('queued', 'running') AND id <> ALL($1::uuid[])
     AND NOT EXISTS (
           SELECT FROM imports AS earlier
            WHERE earlier.organization_id = import.organization_id AND earlier.state IN ('queued', 'running')
              AND (earlier.created_at, earlier.id) < (import.created_at, import.id))
   ORDER BY array_position($2::uuid[], coalesce(tenant_id, organization_id)) NULLS FIRST,
            array_position($3::uuid[], organization_id) NULLS FIRST, moved_at
   LIMIT 1 FOR UPDATE SKIP LOCKED`;

const ADVANCE = `
  UPDATE imports
     SET state = 'running', started_at = coalesce(started_at, $3), position = $4, line = $5,
         created_rows = created_rows + $6, updated_rows = updated_rows + $7, unchanged_rows = unchanged_rows + $8,
         skipped_rows = skipped_rows + $9, failed_rows = failed_rows + $10, errors = errors + $11,
         moved_at = $3, updated_at = greatest($3, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2 RETURNING ${IMPORT_COLUMNS}`;

/** One that failed has had its turn; whoever holds it now notes that by itself. */
const HAD_TURN = `
  UPDATE imports SET moved_at = $3
   WHERE (organization_id, id) IN (
           SELECT organization_id, id FROM imports
            WHERE organization_id = $1 AND id = $2 AND state IN ('queued', 'running') FOR UPDATE SKIP LOCKED)`;

/** None that has ended, or that another has moved meanwhile. */
const END = `
  UPDATE imports
     SET state = $3, failure_code = $4, file_key = NULL, ended_at = $5,
         updated_at = greatest($5, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = $2 AND state IN ('queued', 'running') AND position = $6
  RETURNING 1`;

/** Whom a row names is sent once, however many errors it has: `$8` are places in `$9`, from 1. */
const KEEP_ERRORS = `
  WITH named AS MATERIALIZED (
    SELECT at, ARRAY(SELECT decode(hash, 'hex') FROM unnest(string_to_array(hashes, ',')) AS hash) AS subjects
      FROM unnest($9::text[]) WITH ORDINALITY AS one (hashes, at)
  )
  INSERT INTO import_errors (organization_id, import_id, place, line, column_name, code, value, detail, subjects)
  SELECT $1, $2, $3 + error.place, line, column_name, code, value, detail, named.subjects
    FROM unnest($4::int[], $5::text[], $6::text[], $7::text[], $8::int[], $10::text[]) WITH ORDINALITY
           AS error (line, column_name, code, value, at, detail, place)
    JOIN named USING (at)`;

const OPEN = `SELECT id FROM imports WHERE id = ANY($1::uuid[]) AND state IN ('queued', 'running')`;

/**
 * Carries out imports, a piece at a time: the rows of a piece, their errors, and how far the import has come are one
 * transaction, so that a process may be killed at any moment, and another goes on exactly there. Runs where PROCESS_ROLE
 * is not api.
 */
@Injectable()
export class ImportRunner implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly job = new PollingJob({
    name: JOB,
    takes: 'rows of imports',
    everyMs: LOOK_EVERY_MS,
    pass: () => this.runAll(),
  });
  private readonly sweeping = new PollingJob({
    name: SWEEP,
    takes: 'files of imports',
    everyMs: SWEEP_EVERY_MS,
    pass: () => this.sweep(),
  });
  private readonly backoff: ItemBackoff;
  private readonly unremoved: ItemBackoff;
  private readonly latest = new LatestTurns();
  private readonly careful = new Map<string, Care>();
  /** When this process first missed the file of an import, in milliseconds. */
  private readonly missed = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly files: ImportFiles,
    private readonly pieces: ImportPiece,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
    private readonly signal: ImportSignal,
    private readonly clock: Clock,
  ) {
    this.backoff = new ItemBackoff(JOB, clock);
    this.unremoved = new ItemBackoff(SWEEP, clock, 3 * SWEEP_EVERY_MS);
  }

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.signal.listen(() => this.job.wake());
    this.job.start();
    this.sweeping.start();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.job.stop(), this.sweeping.stop()]);
  }

  /** Does all that can be done now. */
  async runAll(): Promise<boolean> {
    // eslint-disable-next-line house/no-endless-turns -- it ends where no import is left, and with its process
    for (let looks = 1; !this.job.stopping && (await this.isPublished(looks)); looks = LOOKS_BEHIND) {
      if (!(await this.runNext())) {
        this.pieces.forget();
        this.latest.forget();
        return looks > 1;
      }
      await yieldLoop();
    }
    return true;
  }

  /** Removes files that no import reads any more, or that were never wholly taken. */
  async sweep(): Promise<void> {
    const longAgo = this.clock.now().getTime() - FORGOTTEN_AFTER_MS;
    for (const [id, since] of this.missed) if (since < longAgo) this.missed.delete(id);
    const left = await this.files.leftSince(new Date(this.clock.now().getTime() - ABANDONED_AFTER_MS));
    const ids = left.map(({ id }) => id).filter((id) => UUID.test(id));
    if (ids.length === 0) return;
    const open = await this.database.acrossOrganizations((tx) => tx.query<{ id: string }>(OPEN, [ids]));
    const read = new Set(open.map(({ id }) => id));
    for (const file of left) if (ids.includes(file.id) && !read.has(file.id)) await this.removeLeft(file);
  }

  private async removeLeft(file: LeftFile): Promise<void> {
    try {
      await file.remove();
      this.unremoved.passed(file.id);
    } catch (error) {
      this.unremoved.failed(file.id, error);
    }
  }

  /** @param most looks: what a piece has added is waited for, what others did is left to the next pass */
  private async isPublished(most: number): Promise<boolean> {
    for (let looks = 1; (await outboxAge(this.database)) > OUTBOX_SECONDS; looks += 1) {
      if (looks === most || this.job.stopping) return false;
      await pause(LOOK_BEHIND_MS);
    }
    return true;
  }

  /** Whether there was a piece. An import that fails is left for a while, and the next is taken. */
  private async runNext(): Promise<boolean> {
    for await (const { isLast } of turns({ most: RACES })) {
      let row: NextImport | undefined;
      let care: Care | undefined;
      try {
        await this.database.acrossOrganizations(async (tx) => {
          const { tenants, organizations } = this.latest;
          [row] = await tx.query<NextImport>(NEXT, [this.backoff.waiting(), tenants, organizations]);
          if (!row) return;
          care = this.careful.get(row.id);
          await tx.useOrganization(row.organization_id);
          await this.advance(tx, row, care);
        });
        if (row) this.passed(row);
        this.job.progressed();
        return row !== undefined;
      } catch (error) {
        if (row && error instanceof WriteConflict && !isLast) continue;
        if (row) await this.failed(row, care, error);
        if (!row || (isTransient(error) && !ranOut(error))) throw error;
        return true;
      }
    }
    return true;
  }

  private async advance(tx: WorkerTransaction, row: ImportTableRow, care: Care | undefined): Promise<void> {
    // Another process may have passed over that row meanwhile: the next is to be tried.
    const isPoison = care?.poison === row.position;
    const piece = isPoison
      ? await this.pieces.passOver(row)
      : await this.pieces.run(tx, row, care ? 1 : ROWS_A_PIECE);
    await this.keep(tx, row, piece);
  }

  private async keep(tx: WorkerTransaction, row: ImportTableRow, piece: DonePiece): Promise<void> {
    const { tally, next, ended } = piece;
    const errors = piece.errors.slice(0, Math.max(0, MOST_ERRORS - row.errors));
    const key = [row.organization_id, row.id];
    await keepErrors(tx, row, errors);
    const [after] = await tx.query<ImportTableRow>(ADVANCE, [
      ...key,
      this.clock.now(),
      next.at,
      next.line,
      tally.created,
      tally.updated,
      tally.unchanged,
      tally.skipped,
      tally.failed,
      errors.length,
    ]);
    if (ended && after) await this.end(tx, after, 'completed');
  }

  private async end(
    tx: WorkerTransaction,
    row: ImportTableRow,
    state: 'completed' | 'failed',
  ): Promise<void> {
    const { organization_id: organizationId, id, correlation_id: correlationId } = row;
    const failure = state === 'failed' ? 'file_unavailable' : null;
    const done = await tx.query(END, [organizationId, id, state, failure, this.clock.now(), row.position]);
    if (done.length === 0) return;
    await this.audit.record(tx, contextOfImport(row), {
      action: 'core.imports.complete',
      resource: { type: 'imports', id },
      changedFields: ['state'],
    });
    await this.outbox.append(tx, {
      type: 'core.import.completed.v1',
      organizationId,
      key: id,
      subject: `imports/${id}`,
      correlationId,
      data: { import_id: id, state, counts: countsOf(row) },
    });
    // Should this not come to pass, the sweep removes it; nobody can read it any more.
    tx.afterCommit(() => void this.removeFile(id));
  }

  private async removeFile(id: string): Promise<void> {
    try {
      await this.files.remove(id);
    } catch (error) {
      log.warn({ err: error, import: id }, 'The file of an ended import is left to the sweep');
    }
  }

  private passed({ id, tenant, organization_id: organizationId }: NextImport): void {
    this.latest.had({ tenant, organizationId });
    this.backoff.passed(id);
    this.missed.delete(id);
    const care = this.careful.get(id);
    if (!care) return;
    if (care.left <= 1) this.careful.delete(id);
    else this.careful.set(id, { left: care.left - 1 });
  }

  /** @param care with which the piece was done: one of a single row then */
  private async failed(row: NextImport, care: Care | undefined, error: unknown): Promise<void> {
    this.latest.had({ tenant: row.tenant, organizationId: row.organization_id });
    const isLost = error instanceof FileMissing && this.isLost(row);
    if (isLost || error instanceof FileDamaged) {
      log.error({ err: error, import: row.id }, 'The file of an import cannot be read; the import ends');
      await this.database.acrossOrganizations(async (tx) => {
        await tx.useOrganization(row.organization_id);
        await this.end(tx, row, 'failed');
      });
      this.missed.delete(row.id);
      return;
    }
    const attempts = this.backoff.failed(row.id, error);
    const isOfValues = !isTransient(error) && OF_VALUES.test(postgresFailure(error)?.code ?? '');
    // A race, a limit of time: they pass, unless they are met alone again and again. All else is waited for.
    if (isOfValues || error instanceof WriteConflict || ranOut(error)) {
      const { left } = care ?? { left: ROWS_A_PIECE };
      const isFound = care && (isOfValues || ItemBackoff.isAside(attempts));
      this.careful.set(row.id, isFound ? { left, poison: row.position } : { left });
    }
    await this.leaveTurn(row);
  }

  private async leaveTurn(row: ImportTableRow): Promise<void> {
    try {
      await this.database.acrossOrganizations(async (tx) => {
        await tx.useOrganization(row.organization_id);
        await tx.query(HAD_TURN, [row.organization_id, row.id, this.clock.now()]);
      });
    } catch (error) {
      // It waits in this process all the same.
      log.warn({ err: error, import: row.id }, 'An import that failed keeps its place among the others');
    }
  }

  private isLost({ id, updated_at: movedAt }: ImportTableRow): boolean {
    const now = this.clock.now().getTime();
    const since = this.missed.get(id) ?? now;
    this.missed.set(id, since);
    return now - Math.max(since, movedAt.getTime()) > FILE_PATIENCE_MS;
  }
}

/** The import whose turn it is, and whose turn that is. */
interface NextImport extends ImportTableRow {
  readonly tenant: string;
}

/** An import of which a piece cannot be done as a whole: rows are taken one by one until it is behind. */
interface Care {
  readonly left: number;
  /** Where a row stands that cannot be done alone, too. */
  readonly poison?: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

async function keepErrors(
  tx: WorkerTransaction,
  row: ImportTableRow,
  errors: readonly KeptError[],
): Promise<void> {
  if (errors.length === 0) return;
  const named = [...new Set(errors.map(({ subjects }) => subjects))];
  const places = new Map(named.map((subjects, at) => [subjects, at + 1]));
  await tx.query(KEEP_ERRORS, [
    row.organization_id,
    row.id,
    row.errors,
    errors.map(({ line }) => line),
    errors.map(({ column }) => column),
    errors.map(({ code }) => code),
    errors.map(({ value }) => value),
    errors.map(({ subjects }) => places.get(subjects)),
    named.map((subjects) => subjects.map((hash) => hash.toString('hex')).join()),
    errors.map(({ detail }) => detail ?? null),
  ]);
}

function countsOf(row: ImportTableRow): Record<string, number> {
  return {
    created: row.created_rows,
    updated: row.updated_rows,
    unchanged: row.unchanged_rows,
    skipped: row.skipped_rows,
    failed: row.failed_rows,
  };
}
