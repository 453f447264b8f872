import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Database, OrganizationTurns, type WorkerTransaction } from '@customer-platform/database';
import { PollingJob } from '@customer-platform/http';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { changeOf, COUNTED_COLUMNS, DIMENSIONS, NONE, OTHERS, valueOf } from './counted.js';

const JOB = 'deliverability';
const EVERY_MS = 1_000;
const CHANGES_AT_ONCE = 5_000;
/** So many domains and campaigns of a day have a row of their own: the first that are sent to. */
export const OWN_ROWS_OF_A_DAY = 100;

/** Whoever adds or recounts has the counts for itself: which values have a row of their own is decided once. */
export const COUNTS_LOCK = `hashtextextended('messaging deliverability', 0)`;

const columns = (of: (column: (typeof COUNTED_COLUMNS)[number]) => string): string =>
  COUNTED_COLUMNS.map(of).join(', ');

/** `*` and the empty value are no domain and have a row whenever they are needed. */
const NAMED = `value NOT IN ('${OTHERS}', '${NONE}')`;

/**
 * Adds what a relation `counted` (organization_id, hour, dimension, value, and a column for each count) says. What
 * would be more than a day's values have rows of their own is added to the others'; a value that has one keeps it.
 */
const ADD_COUNTED = `
  fresh AS (
    SELECT organization_id, day, dimension, value, row_number() OVER own_of_day AS place
      FROM (SELECT organization_id, date_trunc('day', hour, 'UTC') AS day, dimension, value, sum(sends) AS sends
              FROM counted WHERE ${NAMED} GROUP BY 1, 2, 3, 4) AS named
     WHERE NOT EXISTS (SELECT FROM deliverability_counts AS own
             WHERE own.organization_id = named.organization_id AND own.granularity = 'day'
               AND own.dimension = named.dimension AND own.starts_at = named.day AND own.value = named.value)
    WINDOW own_of_day AS (PARTITION BY organization_id, day, dimension ORDER BY sends DESC, value)
  ), others AS (
    SELECT organization_id, day, dimension, value FROM fresh
     WHERE place + (SELECT count(*) FROM deliverability_counts AS own
             WHERE own.organization_id = fresh.organization_id AND own.granularity = 'day'
               AND own.dimension = fresh.dimension AND own.starts_at = fresh.day AND own.${NAMED}) > ${String(OWN_ROWS_OF_A_DAY)}
  ), added AS (
  INSERT INTO deliverability_counts AS held (organization_id, granularity, dimension, starts_at, value, ${columns(String)})
  SELECT counted.organization_id, period.granularity, counted.dimension, period.starts_at,
         CASE WHEN others.value IS NULL THEN counted.value ELSE '${OTHERS}' END, ${columns((column) => `sum(${column})`)}
    FROM counted
    LEFT JOIN others ON others.organization_id = counted.organization_id AND others.dimension = counted.dimension
     AND others.day = date_trunc('day', counted.hour, 'UTC') AND others.value = counted.value
   CROSS JOIN LATERAL (VALUES ('hour', counted.hour), ('day', date_trunc('day', counted.hour, 'UTC')))
      AS period (granularity, starts_at)
   GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (organization_id, granularity, dimension, starts_at, value) DO UPDATE SET
    ${columns((column) => `${column} = held.${column} + excluded.${column}`)}
  )`;

const ADD_CHANGES = `
  WITH piece AS (
    SELECT one.id AS organization_id, change.at FROM unnest($1::uuid[]) AS one (id), LATERAL (
      SELECT ctid AS at FROM deliverability_changes WHERE organization_id = one.id ORDER BY hour, id LIMIT $2) AS change
  ), taken AS (
    DELETE FROM deliverability_changes AS change USING piece
     WHERE change.organization_id = piece.organization_id AND change.ctid = piece.at
    RETURNING change.*
  ), counted AS MATERIALIZED (
    SELECT organization_id, hour, of.dimension, of.value, ${columns((column) => `sum(${changeOf('taken', column)}) AS ${column}`)}
      FROM taken CROSS JOIN LATERAL (VALUES ${DIMENSIONS.map((one) => `('${one}', ${valueOf('taken', one)})`).join(', ')})
        AS of (dimension, value)
     GROUP BY 1, 2, 3, 4
    HAVING ${COUNTED_COLUMNS.map((column) => `sum(${changeOf('taken', column)}) <> 0`).join(' OR ')}
  ), ${ADD_COUNTED}
  SELECT count(*)::int AS taken FROM taken`;

/**
 * Adds to the counts what the triggers have noted, many changes at a time, of organizations in turn. Whoever reads the figures adds what is not
 * yet added: they are exact whether or not this runs, and cheap to read because it does. Runs where PROCESS_ROLE is not
 * api.
 */
@Injectable()
export class DeliverabilityCounter implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job = new PollingJob({
    name: JOB,
    takes: 'rows of deliverability_changes',
    everyMs: EVERY_MS,
    pass: () => this.runAll(),
  });

  private readonly turns: OrganizationTurns;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    database: Database,
    clock: Clock,
  ) {
    const queue = { table: 'deliverability_changes', rowsAtOnce: CHANGES_AT_ONCE };
    this.turns = new OrganizationTurns(database, clock, JOB, queue);
  }

  onApplicationBootstrap(): void {
    if (this.config.worker) this.job.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  /** Adds all that there is, unless another process is at it. */
  async runAll(): Promise<boolean> {
    return this.job.drain(
      async () =>
        (await this.turns.round(
          (...piece) => this.some(...piece),
          () => this.job.stopping,
        )) > 0,
    );
  }

  /** @returns how many */
  private async some(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    rowsOfEach: number,
  ): Promise<number> {
    const [lock] = await tx.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${COUNTS_LOCK}) AS taken`,
    );
    if (!lock?.taken) return 0;
    const [row] = await tx.query<{ taken: number }>(ADD_CHANGES, [organizationIds, rowsOfEach]);
    return row?.taken ?? 0;
  }
}
