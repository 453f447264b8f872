/** A reading of a wall clock and a calendar somewhere. */
interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Minutes since local midnight. */
  readonly minute: number;
  readonly second: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Lowered, some other letters become those of ASCII: the Kelvin sign becomes a k. */
const ASCII = /^[!-~]*$/;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether a text is an IANA time zone this platform knows. */
export function isTimezone(text: string): boolean {
  try {
    return text.length > 0 && !/^[+-]/.test(text) && formatOf(text) !== undefined;
  } catch {
    return false;
  }
}

/** What clock and calendar show at an instant. */
export function localTimeAt(instant: Date, timezone: string): LocalTime {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month, day, minute: hour * 60 + minute, second };
}

/**
 * The first instant after `after` at which the clock shows `minuteOfDay`. Where daylight saving skips that time, the
 * next one that exists; where it comes twice, whichever is next.
 */
export function nextTimeOfDay(after: Date, minuteOfDay: number, timezone: string): Date {
  const today = localTimeAt(after, timezone);
  for (let ahead = 0; ahead <= 3; ahead += 1) {
    const wall = Date.UTC(today.year, today.month - 1, today.day + ahead) + minuteOfDay * MINUTE_MS;
    const next = instantsAt(wall, timezone).find((instant) => instant > after.getTime());
    if (next !== undefined) return new Date(next);
  }
  throw new RangeError(`no time of day ${minuteOfDay} within three days in ${timezone}`);
}

/** The calendar day at an instant, `YYYY-MM-DD`. */
export function localDay(instant: Date, timezone: string): string {
  const { year, month, day } = localTimeAt(instant, timezone);
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
}

/** The Monday that begins the calendar week at an instant (ISO 8601), `YYYY-MM-DD`. */
export function localWeek(instant: Date, timezone: string): string {
  const midnight = Date.parse(localDay(instant, timezone));
  const sinceMonday = (new Date(midnight).getUTCDay() + 6) % 7;
  return new Date(midnight - sinceMonday * DAY_MS).toISOString().slice(0, 10);
}

/** All instants at which the clock shows a wall time, in order; of a skipped one, the end of the gap. */
function instantsAt(wall: number, timezone: string): number[] {
  const offsets = new Set([offsetAt(wall - DAY_MS, timezone), offsetAt(wall + DAY_MS, timezone)]);
  const exact = [...offsets]
    .map((offset) => wall - offset)
    .filter((instant) => instant + offsetAt(instant, timezone) === wall)
    .sort((a, b) => a - b);
  return exact.length > 0 ? exact : [endOfGap(wall, [...offsets], timezone)];
}

/** The instant of the jump that skips a wall time: from there on the larger offset holds. */
function endOfGap(wall: number, offsets: number[], timezone: string): number {
  const after = Math.max(...offsets);
  let [early, late] = [wall - after, wall - Math.min(...offsets)];
  while (late - early > 1_000) {
    const middle = Math.floor((early + late) / 2_000) * 1_000;
    if (offsetAt(middle, timezone) === after) late = middle;
    else early = middle;
  }
  return late;
}

function offsetAt(instant: number, timezone: string): number {
  const { year, month, day, minute, second } = localTimeAt(new Date(instant), timezone);
  const wall = Date.UTC(year, month - 1, day) + minute * MINUTE_MS + second * 1_000;
  return wall - Math.floor(instant / 1_000) * 1_000;
}

/** Makes one for each zone, however it is spelled: in ASCII, and there alone, letters of either case name the same zone. */
function formatOf(timezone: string): Intl.DateTimeFormat {
  const zone = ASCII.test(timezone) ? timezone.toLowerCase() : timezone;
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  return format;
}
