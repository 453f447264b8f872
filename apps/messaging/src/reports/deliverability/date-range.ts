import { Problem, type FieldError } from '@customer-platform/problem-json';

const DAY_MS = 86_400_000;
const MOST_DAYS = 92;
/** By the hour, of what has a hundred values a day: a long range of it is read for seconds. */
const MOST_DAYS_OF_HOURS = 7;
const DEFAULT_DAYS = 30;
/** Days that PostgreSQL and the arithmetic of dates both know. */
const [FIRST_DAY, LAST_DAY] = ['1970-01-01', '2999-12-31'];
const RANGE = 'A date from 1970-01-01 to 2999-12-31 is expected.';

/** Some UTC days. */
export interface DateRange {
  /** The first. */
  readonly from: string;
  /** The last. */
  readonly to: string;
  /** When the first begins. */
  readonly start: Date;
  /** When the last has ended. */
  readonly end: Date;
}

/** Reads dates of the right shape. @throws Problem `validation_failed` */
export function dateRange(
  { from, to }: { from?: string; to?: string },
  now: Date,
  { manyHours = false }: { manyHours?: boolean } = {},
): DateRange {
  const errors = [...fault('from', from), ...fault('to', to)];
  if (errors.length > 0) throw Problem.validation(errors);
  const today = dateOf(now.getTime());
  const last = to ?? (from !== undefined && from > today ? from : today);
  const most = manyHours ? MOST_DAYS_OF_HOURS : MOST_DAYS;
  const byDefault = Math.min(most, DEFAULT_DAYS);
  const first = from ?? later(FIRST_DAY, dateOf(Date.parse(last) - (byDefault - 1) * DAY_MS));
  if (first > last)
    throw Problem.validation([{ parameter: 'from', code: 'out_of_range', detail: '`from` is after `to`.' }]);
  const start = Date.parse(first);
  const end = Date.parse(last) + DAY_MS;
  if (end - start > most * DAY_MS) {
    const detail = `At most ${String(most)} days can be asked for${manyHours ? ' by the hour and group' : ''}.`;
    throw Problem.validation([{ parameter: 'from', code: 'out_of_range', detail }]);
  }
  return { from: first, to: last, start: new Date(start), end: new Date(end) };
}

function fault(parameter: string, date: string | undefined): FieldError[] {
  if (date === undefined) return [];
  if (!isDate(date)) return [{ parameter, code: 'invalid_format', detail: 'There is no such date.' }];
  if (date < FIRST_DAY || date > LAST_DAY) return [{ parameter, code: 'out_of_range', detail: RANGE }];
  return [];
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function later(one: string, other: string): string {
  return one > other ? one : other;
}

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00.000Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
