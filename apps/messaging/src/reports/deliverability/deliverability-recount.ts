import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { COUNTED, COUNTED_COLUMNS, DIMENSIONS, NONE, OTHERS, valueOf } from './counted.js';
import { dateRange } from './date-range.js';
import { COUNTS_LOCK, DeliverabilityCounter, OWN_ROWS_OF_A_DAY } from './deliverability-counter.js';

const DAY_MS = 86_400_000;

/** From organization to organization, without reading the sends of any. */
const ORGANIZATIONS = `
  WITH RECURSIVE found AS (
    (SELECT organization_id FROM sends ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT sends.organization_id FROM sends WHERE sends.organization_id > found.organization_id
             ORDER BY sends.organization_id LIMIT 1) FROM found WHERE found.organization_id IS NOT NULL
  )
  SELECT organization_id FROM found WHERE organization_id IS NOT NULL`;

const OF_DAY = 'organization_id = $1 AND created_at >= $2 AND created_at < $3';

/** By the steps that they have taken: what the triggers have not seen, of before there were any. */
const COMPLETE = `
  UPDATE sends SET reached = sends.reached | known.reached
    FROM (SELECT step.send_id, bit_or(send_state_bit(step.state)) AS reached
            FROM sends AS own JOIN send_history AS step ON step.organization_id = $1 AND step.send_id = own.id
           WHERE own.${OF_DAY} GROUP BY step.send_id) AS known
   WHERE sends.organization_id = $1 AND sends.id = known.send_id
     AND (sends.reached = 0 OR sends.reached | known.reached <> sends.reached)`;

const FIGURES = COUNTED_COLUMNS.join(', ');
const sums = COUNTED_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ');
const KEY = 'organization_id, granularity, dimension, starts_at, value';

/**
 * One snapshot: what is noted and not yet added belongs to sends as they are counted here, and goes. The values with
 * most sends of the day have rows of their own.
 */
const RECOUNT = `
  WITH gone AS (
    DELETE FROM deliverability_changes WHERE organization_id = $1 AND hour >= $2 AND hour < $3
  ), alike AS (
    SELECT date_trunc('hour', created_at, 'UTC') AS hour, channel, sender_domain, recipient_domain,
           CASE WHEN source = 'campaign' THEN source_id END AS campaign_id, reached, count(*) AS many
      FROM sends WHERE ${OF_DAY} AND source <> 'identity' GROUP BY 1, 2, 3, 4, 5, 6
  ), counted AS (
    SELECT hour, of.dimension, of.value, ${COUNTED_COLUMNS.map(
      (column) =>
        `sum(CASE WHEN reached & ${String(COUNTED[column])} <> 0 THEN many ELSE 0 END) AS ${column}`,
    ).join(', ')}
      FROM alike CROSS JOIN LATERAL (VALUES ${DIMENSIONS.map((one) => `('${one}', ${valueOf('alike', one)})`).join(', ')})
        AS of (dimension, value)
     GROUP BY 1, 2, 3
  ), own AS (
    SELECT dimension, value, row_number() OVER (PARTITION BY dimension ORDER BY sum(sends) DESC, value) AS place
      FROM counted WHERE value <> '${NONE}' GROUP BY dimension, value
  ), right_ones AS MATERIALIZED (
    SELECT $1::uuid AS organization_id, period.granularity, counted.dimension, period.starts_at,
           CASE WHEN own.place > ${String(OWN_ROWS_OF_A_DAY)} THEN '${OTHERS}' ELSE counted.value END AS value, ${sums}
      FROM counted LEFT JOIN own USING (dimension, value)
     CROSS JOIN LATERAL (VALUES ('hour', counted.hour), ('day', $2::timestamptz)) AS period (granularity, starts_at)
     GROUP BY 1, 2, 3, 4, 5
  ), stray AS (
    DELETE FROM deliverability_counts AS held
     WHERE held.organization_id = $1 AND held.starts_at >= $2 AND held.starts_at < $3
       AND NOT EXISTS (SELECT FROM right_ones AS one WHERE one.granularity = held.granularity
             AND one.dimension = held.dimension AND one.starts_at = held.starts_at AND one.value = held.value)
    RETURNING held.sends
  ), written AS (
    INSERT INTO deliverability_counts AS held (${KEY}, ${FIGURES}) SELECT ${KEY}, ${FIGURES} FROM right_ones
    ON CONFLICT (${KEY}) DO UPDATE SET ${COUNTED_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')}
     WHERE (${COUNTED_COLUMNS.map((column) => `held.${column}`).join(', ')})
        IS DISTINCT FROM (${COUNTED_COLUMNS.map((column) => `excluded.${column}`).join(', ')})
    RETURNING 1
  )
  SELECT ((SELECT count(*) FROM stray WHERE sends <> 0) + (SELECT count(*) FROM written))::int AS wrong`;

/** How many counts of an organization were not those of its sends, and are now. */
interface Recounted {
  organization_id: string;
  counts: number;
}

/** Counts sends anew, a day of an organization at a time, while the service runs. */
@Injectable()
export class DeliverabilityRecount {
  constructor(
    private readonly database: Database,
    private readonly counter: DeliverabilityCounter,
    private readonly clock: Clock,
  ) {}

  /** Of one organization or of all, of days as `dateRange` has them. Repeatable. @throws Problem `validation_failed` */
  async run(given: { organization?: string; from?: string; to?: string } = {}): Promise<Recounted[]> {
    const { start, end } = dateRange(given, this.clock.now());
    const { organization } = given;
    const organizations = organization === undefined ? await this.organizations() : [organization];
    const recounted: Recounted[] = [];
    for (const organizationId of organizations) {
      let counts = 0;
      for (let day = start.getTime(); day < end.getTime(); day += DAY_MS)
        counts += await this.day(organizationId, new Date(day), new Date(day + DAY_MS));
      recounted.push({ organization_id: organizationId, counts });
    }
    return recounted;
  }

  private async organizations(): Promise<string[]> {
    const rows = await this.database.acrossOrganizations((tx) =>
      tx.query<{ organization_id: string }>(ORGANIZATIONS),
    );
    return rows.map((row) => row.organization_id);
  }

  private async day(organizationId: string, from: Date, to: Date): Promise<number> {
    const given = [organizationId, from, to];
    await this.database.inOrganization({ organizationId }, (tx) => tx.query(COMPLETE, given));
    await this.counter.runAll();
    return this.database.inOrganization({ organizationId }, async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(${COUNTS_LOCK})`);
      // In a statement of its own, whose snapshot holds all that was added before the lock was had.
      const [row] = await tx.query<{ wrong: number }>(RECOUNT, given);
      return row?.wrong ?? 0;
    });
  }
}
