/** A time between two instants in the unit that is read best. */
export interface Span {
  value: number;
  unit: 'millisecond' | 'second' | 'minute' | 'hour' | 'day';
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** @param ms not negative; two clocks may say otherwise, and then it is none */
export function spanOf(ms: number): Span {
  const positive = Math.max(0, ms);
  for (const [unit, length] of UNITS) {
    // Below ten a decimal says something; above it is noise.
    if (positive >= length) return { unit, value: rounded(positive / length) };
  }
  return { unit: 'millisecond', value: Math.round(positive) };
}

function rounded(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
}
