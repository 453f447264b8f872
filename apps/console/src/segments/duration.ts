const DURATION =
  /^P(?:(\d{1,6})W|(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,10})S)?)?)$/;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SHORTEST = MINUTE;
const LONGEST = 3_650 * DAY;

/** What a window is said in. */
export const UNITS = ['minutes', 'hours', 'days', 'weeks'] as const;
export type Unit = (typeof UNITS)[number];

const WRITTEN: Record<Unit, readonly [string, string]> = {
  minutes: ['PT', 'M'],
  hours: ['PT', 'H'],
  days: ['P', 'D'],
  weeks: ['P', 'W'],
};

/** The length of an ISO 8601 duration that rules take, in ms; undefined for any other text. */
function lengthOf(text: string): number | undefined {
  const parts = DURATION.exec(text);
  if (!parts || text === 'P') return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part) => Number((part as string | undefined) ?? 0));
  return weeks * 7 * DAY + days * DAY + hours * HOUR + minutes * MINUTE + seconds * 1_000;
}

/** Whether rules take a window of this length: one minute to 3,650 days. */
export function isWindow(text: string): boolean {
  const ms = lengthOf(text);
  return ms !== undefined && ms >= SHORTEST && ms <= LONGEST;
}

/** A number as JSON writes it; none; or what stands for a text that is no number: only whole ones make a window. */
const AMOUNT = /^(?:|-?\d+(?:\.\d+)?(?:e[+-]\d+)?|NaN)$/;

/** `P30D` → 30 days. Undefined for what is made of several units, or is no duration. */
export function inOneUnit(text: string): { amount: string; unit: Unit } | undefined {
  for (const unit of UNITS) {
    const [before, after] = WRITTEN[unit];
    const amount = text.slice(before.length, -after.length);
    if (written(amount, unit) === text && AMOUNT.test(amount)) return { amount, unit };
  }
  return undefined;
}

/** 30 days → `P30D`. */
export function written(amount: string, unit: Unit): string {
  const [before, after] = WRITTEN[unit];
  return `${before}${amount}${after}`;
}
