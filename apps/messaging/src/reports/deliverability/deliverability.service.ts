import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { SEND_STATES, type SendState } from '../../vocabulary/sends/send-state.js';
import {
  changeOf,
  COUNTED_COLUMNS,
  NONE,
  OTHERS,
  valueOf,
  type CountedColumn,
  type Dimension,
} from './counted.js';
import { dateRange, type DateRange } from './date-range.js';
import type {
  DeliverabilityDto,
  DeliverabilityFiguresDto,
  DeliverabilityPeriodDto,
  DeliverabilityQueryDto,
  Granularity,
} from './deliverability.dto.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Groups that are named, the largest first: each is there again in every period of a range. */
const MOST_GROUPS: Readonly<Record<Granularity, number>> = { hour: 10, day: 20, total: 50 };

/** Counts are far below 2^53: a double carries them exactly, and is summed faster than what bigints are summed to. */
const SUMS = COUNTED_COLUMNS.map((column) => `sum(${column}::float8) AS ${column}`).join(', ');

const PERIOD: Readonly<Record<Granularity, string>> = {
  hour: 'starts_at',
  day: 'starts_at',
  total: '$2::timestamptz',
};

/**
 * What has been added to the counts and what has not yet been, in one statement and so in one snapshot: every change of
 * a send's state that is committed is in one of the two.
 */
function parts(granularity: Granularity, dimension: Dimension): string {
  const stored = granularity === 'hour' ? 'hour' : 'day';
  return `
      SELECT starts_at, value, ${COUNTED_COLUMNS.join(', ')} FROM deliverability_counts
       WHERE organization_id = $1 AND granularity = '${stored}' AND dimension = '${dimension}'
         AND starts_at >= $2 AND starts_at < $3
      UNION ALL
      SELECT date_trunc('${stored}', change.hour, 'UTC'), ${valueOf('change', dimension)},
             ${COUNTED_COLUMNS.map((column) => changeOf('change', column)).join(', ')}
        FROM deliverability_changes AS change
       WHERE change.organization_id = $1 AND change.hour >= $2 AND change.hour < $3`;
}

/** Without groups the channels are summed: they are the fewest. */
function ungrouped(granularity: Granularity): string {
  return `
    SELECT ${PERIOD[granularity]} AS period, NULL AS value, ${SUMS}
      FROM (${parts(granularity, 'channel')}) AS part GROUP BY 1`;
}

function grouped(granularity: Granularity, dimension: Dimension): string {
  return `
    WITH counted AS MATERIALIZED (
      SELECT ${PERIOD[granularity]} AS period, value, ${SUMS}
        FROM (${parts(granularity, dimension)}) AS part GROUP BY 1, 2
    ),
    named AS (
      SELECT value FROM counted WHERE value <> '${OTHERS}' GROUP BY value HAVING sum(sends) > 0
       ORDER BY sum(sends) DESC, value LIMIT ${String(MOST_GROUPS[granularity])}
    )
    SELECT counted.period, coalesce(named.value, '${OTHERS}') AS value, ${SUMS}
      FROM counted LEFT JOIN named USING (value)
     GROUP BY 1, 2 HAVING sum(sends) > 0
     ORDER BY 1, coalesce(named.value, '${OTHERS}') = '${OTHERS}', sum(sends) DESC, 2`;
}

type CountedRow = Readonly<Record<CountedColumn, number>> & {
  readonly period: Date;
  readonly value: string | null;
};

const NOTHING = Object.fromEntries(COUNTED_COLUMNS.map((column) => [column, 0])) as Record<
  CountedColumn,
  number
>;

/** What became of an organization's sends (messaging.md §10). */
@Injectable()
export class DeliverabilityService {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @throws Problem `validation_failed` */
  async read(context: RequestContext, query: DeliverabilityQueryDto): Promise<DeliverabilityDto> {
    const { granularity = 'day', group_by: groupBy } = query;
    const manyHours = granularity === 'hour' && groupBy !== undefined && groupBy !== 'channel';
    const range = dateRange(query, this.clock.now(), { manyHours });
    const statement = groupBy ? grouped(granularity, groupBy) : ungrouped(granularity);
    const given = [context.organizationId, range.start, range.end];
    const rows = await this.database.inOrganization(context, (tx) => tx.query<CountedRow>(statement, given));
    const { from, to } = range;
    const data = groupBy
      ? rows.map((row) => periodOf(granularity, range, row.period, groupOf(row), row))
      : everyPeriod(granularity, range, rows);
    return { from, to, granularity, group_by: groupBy ?? null, data, totals: figuresOf(totalOf(rows)) };
  }
}

function groupOf({ value }: CountedRow): string | null {
  return value === NONE ? null : value;
}

function everyPeriod(
  granularity: Granularity,
  range: DateRange,
  rows: readonly CountedRow[],
): DeliverabilityPeriodDto[] {
  const byPeriod = new Map(rows.map((row) => [row.period.getTime(), row]));
  const step = lengthOf(granularity, range);
  const data: DeliverabilityPeriodDto[] = [];
  for (let at = range.start.getTime(); at < range.end.getTime(); at += step)
    data.push(periodOf(granularity, range, new Date(at), null, byPeriod.get(at) ?? NOTHING));
  return data;
}

function periodOf(
  granularity: Granularity,
  range: DateRange,
  start: Date,
  group: string | null,
  counts: Readonly<Record<CountedColumn, number>>,
): DeliverabilityPeriodDto {
  const end = new Date(start.getTime() + lengthOf(granularity, range));
  return {
    period_start: start.toISOString(),
    period_end: end.toISOString(),
    group,
    ...figuresOf(counts),
  };
}

/** In milliseconds: UTC knows no day that is longer or shorter. */
function lengthOf(granularity: Granularity, { start, end }: DateRange): number {
  if (granularity === 'total') return end.getTime() - start.getTime();
  return granularity === 'day' ? DAY_MS : HOUR_MS;
}

function totalOf(rows: readonly CountedRow[]): Record<CountedColumn, number> {
  const total = { ...NOTHING };
  for (const row of rows) for (const column of COUNTED_COLUMNS) total[column] += row[column];
  return total;
}

function figuresOf(counts: Readonly<Record<CountedColumn, number>>): DeliverabilityFiguresDto {
  const rate = (part: number): number | null =>
    counts.handed_over === 0 ? null : Number((part / counts.handed_over).toFixed(6));
  return {
    sends: counts.sends,
    handed_over: counts.handed_over,
    received: counts.received,
    counts: Object.fromEntries(SEND_STATES.map((state) => [state, counts[state]])) as Record<
      SendState,
      number
    >,
    rates: {
      delivered: rate(counts.received),
      bounced: rate(counts.bounced),
      complained: rate(counts.complained),
      opened: rate(counts.opened),
      clicked: rate(counts.clicked),
    },
  };
}
