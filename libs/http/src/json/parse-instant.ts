const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d{2}(?::?\d{2})?)$/;

/**
 * Reads an ISO 8601 time whose offset is mandatory; answers it in UTC with milliseconds, or undefined if it is not
 * one. Days that do not exist (30 February), a leap second and years outside of 1 to 9999, which PostgreSQL or the wire
 * cannot write, are refused; finer digits than milliseconds are cut.
 */
export function parseInstant(text: string): string | undefined {
  const parts = INSTANT.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', offset = ''] = parts;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  const wall = new Date(`${local}Z`);
  // Date rolls 30 February over to March and 24:00 to the next day; the text then differs.
  if (Number.isNaN(wall.getTime()) || wall.toISOString() !== `${local}Z`) return undefined;
  const shift = offsetMinutes(offset);
  if (shift === undefined) return undefined;
  const instant = new Date(wall.getTime() - shift * 60_000);
  return instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9999
    ? instant.toISOString()
    : undefined;
}

/** Whether a text is a day that exists, `2026-01-31`, in the years 1 to 9999. */
export function isDay(text: string): boolean {
  return DAY.test(text) && parseInstant(`${text}T00:00:00Z`) !== undefined;
}

function offsetMinutes(offset: string): number | undefined {
  if (offset === 'Z' || offset === 'z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
