import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { isDay, type RequestContext } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { Refusals } from '../ingestion/refusals.js';
import { QueueEnd } from './queue-end.js';
import type { ContactUsageDto, EventUsageDto, UsageDto, UsagePeriodDto, UsageQueryDto } from './usage.dto.js';

const DAY_MS = 86_400_000;
const DAYS_LIMIT = 400;
const DEFAULT_DAYS = 30;
const RANGE = 'A date from 1970-01-01 to 2999-12-31 is expected.';
/** Days that PostgreSQL and the arithmetic of dates both know; nothing was used outside of them. */
const [FIRST_DAY, LAST_DAY] = ['1970-01-01', '2999-12-31'];

/**
 * All counters of an organization in one statement, so in one snapshot; of what was before the range, one row with the
 * contacts that it left. What has been accepted on a partition is the longer of two prefixes of it: what was counted,
 * and what the worker took.
 */
const COUNTERS = `
  WITH outcome AS (
    SELECT * FROM usage_days WHERE organization_id = $1 AND day BETWEEN $2 AND $3
  ), acceptance AS (
    SELECT day, partition, counted FROM usage_acceptances WHERE organization_id = $1 AND day BETWEEN $2 AND $3
  ), counter AS (
    SELECT day, greatest(consumed, counted) AS accepted, stored, duplicates, dead_lettered, erased, 0 AS refused,
           contacts_created, contacts_deleted, contacts_merged, contacts_erased
      FROM outcome FULL JOIN acceptance USING (day, partition)
     UNION ALL
    SELECT day, 0, 0, 0, 0, 0, refused, 0, 0, 0, 0
      FROM usage_refusals WHERE organization_id = $1 AND day BETWEEN $2 AND $3
     UNION ALL
    SELECT $2::date - 1, 0, 0, 0, 0, 0, 0,
           sum(contacts_created - contacts_deleted - contacts_merged - contacts_erased), 0, 0, 0
      FROM usage_days WHERE organization_id = $1 AND day < $2
  )
  SELECT to_char(day, 'YYYY-MM-DD') AS day, ${total('accepted')}, ${total('stored')},
         ${total('duplicates')}, ${total('dead_lettered')}, ${total('erased')}, ${total('refused')},
         ${total('contacts_created')}, ${total('contacts_deleted')}, ${total('contacts_merged')},
         ${total('contacts_erased')}
    FROM counter GROUP BY day`;

/** Counts are far below 2^53: a double carries them exactly. */
function total(column: string): string {
  return `coalesce(sum(${column}), 0)::float8 AS ${column}`;
}

interface CounterRow {
  day: string;
  accepted: number;
  stored: number;
  duplicates: number;
  dead_lettered: number;
  erased: number;
  refused: number;
  contacts_created: number;
  contacts_deleted: number;
  contacts_merged: number;
  contacts_erased: number;
}

interface Range {
  readonly from: string;
  readonly to: string;
  readonly granularity: 'day' | 'month';
}

/** What an organization used: its events under the law of conservation, and its contacts. */
@Injectable()
export class UsageService {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly end: QueueEnd,
    private readonly refusals: Refusals,
  ) {}

  /**
   * Usage by day or month. In every period accepted = stored + duplicates + dead_lettered + pending (contract.md §6),
   * and every event answered 202 before the call is among the accepted.
   * @throws Problem `validation_failed`
   */
  async read(context: RequestContext, query: UsageQueryDto): Promise<UsageDto> {
    const range = this.rangeOf(query);
    await Promise.all([this.end.counted(), this.refusals.write()]);
    const rows = await this.database.inOrganization(context, (tx) =>
      tx.query<CounterRow>(COUNTERS, [context.organizationId, range.from, range.to]),
    );
    return toUsage(range, rows);
  }

  private rangeOf(query: UsageQueryDto): Range {
    const today = this.clock.now().toISOString().slice(0, 10);
    const to = query.to ?? (query.from !== undefined && query.from > today ? query.from : today);
    const from = query.from ?? defaultFrom(to);
    const errors: FieldError[] = [];
    for (const [parameter, date] of Object.entries({ from: query.from, to: query.to })) {
      if (date === undefined) continue;
      if (!isDay(date)) errors.push({ parameter, code: 'invalid_format', detail: 'There is no such date.' });
      else if (date < FIRST_DAY || date > LAST_DAY)
        errors.push({ parameter, code: 'out_of_range', detail: RANGE });
    }
    if (errors.length === 0 && from > to) {
      errors.push({ parameter: 'from', code: 'out_of_range', detail: '`from` is after `to`.' });
    }
    if (errors.length === 0 && Date.parse(to) - Date.parse(from) >= DAYS_LIMIT * DAY_MS) {
      const detail = `At most ${DAYS_LIMIT} days can be asked for.`;
      errors.push({ parameter: 'from', code: 'out_of_range', detail });
    }
    if (errors.length > 0) throw Problem.validation(errors);
    return { from, to, granularity: query.granularity ?? 'day' };
  }
}

function toUsage({ from, to, granularity }: Range, rows: readonly CounterRow[]): UsageDto {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  let active = netContacts(byDay.get(daysBefore(from, 1)));
  const data: UsagePeriodDto[] = [];
  const totals = { events: noEvents(), contacts: noContacts(active) };
  for (let day = from; day <= to; day = daysBefore(day, -1)) {
    let period = data.at(-1);
    if (!period || granularity === 'day' || day.endsWith('-01')) {
      period = { period_start: day, period_end: day, events: noEvents(), contacts: noContacts(active) };
      data.push(period);
    }
    const row = byDay.get(day);
    active += netContacts(row);
    period.period_end = day;
    for (const { events, contacts } of [period, totals]) {
      if (row) addTo(events, contacts, row);
      contacts.active = active;
    }
  }
  return { data, totals };
}

function addTo(events: EventUsageDto, contacts: ContactUsageDto, row: CounterRow): void {
  events.accepted += row.accepted;
  events.stored += row.stored;
  events.duplicates += row.duplicates;
  events.dead_lettered += row.dead_lettered;
  events.pending += row.accepted - row.stored - row.duplicates - row.dead_lettered;
  events.erased += row.erased;
  events.refused += row.refused;
  contacts.created += row.contacts_created;
  contacts.merged += row.contacts_merged;
  contacts.erased += row.contacts_erased;
}

function netContacts(row: CounterRow | undefined): number {
  if (!row) return 0;
  return row.contacts_created - row.contacts_deleted - row.contacts_merged - row.contacts_erased;
}

function noEvents(): EventUsageDto {
  return { accepted: 0, stored: 0, duplicates: 0, dead_lettered: 0, pending: 0, erased: 0, refused: 0 };
}

function noContacts(active: number): ContactUsageDto {
  return { active, created: 0, merged: 0, erased: 0 };
}

function defaultFrom(to: string): string {
  if (!isDay(to) || to <= FIRST_DAY) return to;
  const from = daysBefore(to, DEFAULT_DAYS - 1);
  return from < FIRST_DAY ? FIRST_DAY : from;
}

function daysBefore(date: string, days: number): string {
  return new Date(Date.parse(date) - days * DAY_MS).toISOString().slice(0, 10);
}
