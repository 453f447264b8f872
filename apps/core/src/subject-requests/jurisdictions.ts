/** How long a controller has to answer a data subject, by the law of a country. */
interface Jurisdiction {
  /** IANA name of the zone in which its days end. */
  readonly timezone: string;
  /** Calendar days, weekends and holidays included. */
  readonly days: number;
  /** Calendar days that one extension adds. */
  readonly extensionDays: number;
  /** Where the law says so, and when that was looked up. */
  readonly source: string;
  readonly asOf: string;
}

/**
 * The laws by which requests are due. Chile counts `días corridos`: thirty calendar days from the reception, which one
 * extension with a reason may prolong by thirty. Holidays therefore do not matter.
 */
const JURISDICTIONS = {
  CL: {
    timezone: 'America/Santiago',
    days: 30,
    extensionDays: 30,
    source: 'Ley 19.628, art. 11, as amended by Ley 21.719 (in force on 2026-12-01)',
    asOf: '2026-11-23',
  },
} as const satisfies Record<string, Jurisdiction>;

/** The code of a country whose law is in the table. */
export type JurisdictionCode = keyof typeof JURISDICTIONS;

/** The codes of the table. */
export const JURISDICTION_CODES = Object.keys(JURISDICTIONS) as JurisdictionCode[];

/** Nothing that a request says happened earlier: calendars of such years are not those of today's zones. */
export const EARLIEST = new Date('1970-01-01T00:00:00.000Z');

const DAY_MS = 86_400_000;
/** No zone is further from UTC. */
const FURTHEST_MS = 15 * 3_600_000;

/** The last millisecond of the calendar day that is so many days after that of `from`, where the zone is. */
export function endOfDayAfter(from: Date, days: number, timezone: string): Date {
  const day = Date.parse(`${dayIn(from, timezone)}T00:00:00.000Z`) + days * DAY_MS;
  const next = new Date(day + DAY_MS).toISOString().slice(0, 10);
  return new Date(beginningOf(next, timezone) - 1);
}

/** When a request is due that was received then. */
export function dueAt(code: JurisdictionCode, receivedAt: Date): Date {
  const { days, timezone } = JURISDICTIONS[code];
  return endOfDayAfter(receivedAt, days, timezone);
}

/** When a request is due that was to be answered by `due` and is extended. */
export function extendedDueAt(code: JurisdictionCode, due: Date): Date {
  const { extensionDays, timezone } = JURISDICTIONS[code];
  return endOfDayAfter(due, extensionDays, timezone);
}

/**
 * The first instant at which it is this day there. Sought rather than computed: where clocks change at midnight, as in
 * Santiago, a day begins at 01:00, or one hour later than the clock first says.
 */
function beginningOf(day: string, timezone: string): number {
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  let before = midnight - FURTHEST_MS;
  let at = midnight + FURTHEST_MS;
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2);
    if (dayIn(new Date(middle), timezone) < day) before = middle;
    else at = middle;
  }
  return at;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** `YYYY-MM-DD` in a zone. */
function dayIn(at: Date, timezone: string): string {
  let format = formats.get(timezone);
  if (!format) {
    // The calendar of this locale writes dates as ISO 8601 does.
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone });
    formats.set(timezone, format);
  }
  return format.format(at);
}
