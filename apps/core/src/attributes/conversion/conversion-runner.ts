import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, ItemJob, type WorkerTransaction } from '@customer-platform/database';
import { outboxAge } from '@customer-platform/event-bus';
import { log } from '@customer-platform/http';
import { AttributeHolds } from '../../segments/building/attribute-holds.js';
import { ConversionEnd } from './conversion-end.js';
import { CONVERSION_COLUMNS, type ConversionRow } from './conversions.js';
import { ConversionSignal } from './conversion.signal.js';
import { ConvertingPiece, verifyPiece } from './converting-piece.js';

/** Its name in metrics and log lines. */
const JOB = 'attribute-conversion';
const LOOK_EVERY_MS = 500;
/** Enough for all contacts of a small organization: to verify, to convert and to end. */
const STEPS_AT_ONCE = 4;
/** While events wait longer to be published nothing is added to them: those of live traffic stand in the same queue. */
const OUTBOX_SECONDS = 1;

const OWNERS = `
  SELECT organization_id FROM attribute_conversions
   WHERE phase IN ('verifying', 'converting', 'ending', 'cancelling') AND definition_id <> ALL($1::uuid[])
   GROUP BY organization_id ORDER BY min(moved_at)`;
/** What is due to end, first. Its row is not locked yet: the registration's lock comes before. */
const ENDING = `
  SELECT ending.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT organization_id, definition_id, phase FROM attribute_conversions
     WHERE organization_id = turn.organization_id AND phase IN ('ending', 'cancelling') AND definition_id <> ALL($2::uuid[])
     ORDER BY moved_at LIMIT 1) AS ending
   LIMIT 1`;
/** They take turns: one of a million contacts holds up nobody else's. What another process works on is passed over. */
const NEXT = `
  SELECT own.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT organization_id, definition_id, phase FROM attribute_conversions
     WHERE organization_id = turn.organization_id AND phase IN ('verifying', 'converting')
       AND definition_id <> ALL($2::uuid[])
     ORDER BY moved_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS own
   LIMIT 1`;
const ONE = `
  SELECT organization_id, definition_id, phase FROM attribute_conversions
   WHERE organization_id = $1 AND definition_id = $2`;

const LOCK = `
  SELECT ${CONVERSION_COLUMNS} FROM attribute_conversions
   WHERE organization_id = $1 AND definition_id = $2 AND phase = $3 FOR UPDATE`;

const ON = `
  UPDATE attribute_conversions
     SET phase = $3, cursor_id = $4, processed = $5, total = greatest(total, $5), converted = $6, cleared = $7, moved_at = now()
   WHERE organization_id = $1 AND definition_id = $2`;

interface Turn {
  organization_id: string;
  definition_id: string;
  phase: ConversionRow['phase'];
}

/**
 * Converts the values that contacts have when an attribute is declared otherwise, a piece at a time: each piece and how
 * far it came are one transaction, so that a process may be killed at any moment and another goes on there. Runs where
 * PROCESS_ROLE is not api; where contacts are few the request that begins it carries it out.
 */
@Injectable()
export class ConversionRunner extends ItemJob<Turn> {
  constructor(
    database: Database,
    private readonly piece: ConvertingPiece,
    private readonly end: ConversionEnd,
    private readonly holds: AttributeHolds,
    signal: ConversionSignal,
    clock: Clock,
    tenants: Tenants,
  ) {
    super(
      { name: JOB, takes: 'rows of attribute_conversions', everyMs: LOOK_EVERY_MS, wokenBy: signal },
      database,
      clock,
      tenants,
    );
  }

  /** Does all that can be done while what it tells of is published in time. */
  async runPublished(): Promise<boolean> {
    let isPublished = true;
    const any = await this.job.drain(
      async () => (isPublished = await this.isPublished()) && (await this.runNext()),
    );
    return any || !isPublished;
  }

  protected override pass(): Promise<boolean> {
    return this.runPublished();
  }

  /** The first steps of a conversion that was just begun. What fails is left to whoever goes on with it. */
  async begin(organizationId: string, definitionId: string): Promise<void> {
    // Steps lock contacts, whose writers wait for the registration that such a call holds: they come after its answer.
    if (this.database.isHeld) return;
    try {
      for (let step = 0; step < STEPS_AT_ONCE; step += 1) {
        const found = await this.database.acrossOrganizations(async (tx) => {
          await tx.useOrganization(organizationId);
          const [turn] = await tx.query<Turn>(ONE, [organizationId, definitionId]);
          if (turn) await this.work(tx, turn);
          return turn !== undefined;
        });
        if (!found) return;
      }
    } catch (error) {
      log.warn({ err: error, job: JOB }, 'A conversion goes on later');
    }
  }

  private async isPublished(): Promise<boolean> {
    return (await outboxAge(this.database)) <= OUTBOX_SECONDS;
  }

  protected owners(
    tx: WorkerTransaction,
    waiting: readonly string[],
  ): Promise<Pick<Turn, 'organization_id'>[]> {
    return tx.query(OWNERS, [waiting]);
  }

  protected async next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<Turn | undefined> {
    const [ending] = await tx.query<Turn>(ENDING, [organizationIds, waiting]);
    const before = ending
      ? organizationIds.slice(0, organizationIds.indexOf(ending.organization_id))
      : organizationIds;
    const [turn] = await tx.query<Turn>(NEXT, [before, waiting]);
    return turn ?? ending;
  }

  protected nameOf(turn: Turn): string {
    return turn.definition_id;
  }

  /** The registration's lock comes first, as everywhere; another may have taken the step meanwhile. */
  protected async work(tx: WorkerTransaction, { definition_id: id, phase }: Turn): Promise<void> {
    const isLast = phase === 'ending' || phase === 'cancelling';
    if (isLast) await this.holds.begin(tx);
    const [row] = await tx.query<ConversionRow>(LOCK, [tx.organizationId, id, phase]);
    if (!row) return;
    if (phase === 'ending') return this.end.takeEffect(tx, row);
    if (phase === 'cancelling') return this.end.cancel(tx, row);
    const after = phase === 'verifying' ? await verifyPiece(tx, row) : await this.piece.convert(tx, row);
    const { cursor_id, processed, converted = row.converted, cleared = row.cleared } = after;
    await tx.query(ON, [...[tx.organizationId, id, after.phase, cursor_id, processed, converted, cleared]]);
  }
}
