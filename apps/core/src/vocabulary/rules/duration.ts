const DURATION =
  /^P(?:(\d{1,6})W|(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,10})S)?)?)$/;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The shortest and the longest window of a rule (core.md §7). */
export const SHORTEST_MS = MINUTE;
export const LONGEST_MS = 3_650 * DAY;

/**
 * An ISO 8601 duration of weeks, or of days, hours, minutes and seconds, in milliseconds; undefined for any other
 * text. Months and years are none: their length depends on where they begin, and a window must end at one instant.
 */
export function parseDuration(text: string): number | undefined {
  const parts = DURATION.exec(text);
  if (!parts || text === 'P') return undefined;
  const [weeks, days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  return (
    (weeks ?? 0) * 7 * DAY +
    (days ?? 0) * DAY +
    (hours ?? 0) * HOUR +
    (minutes ?? 0) * MINUTE +
    (seconds ?? 0) * SECOND
  );
}
