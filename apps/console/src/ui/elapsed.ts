/** A time between two steps, as one says it. */
interface Elapsed {
  unit: 'ms' | 's' | 'min' | 'h' | 'd';
  count: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `1234` → 1.2 s. One decimal below ten of a unit, none above. */
export function elapsedOf(ms: number): Elapsed {
  const past = Math.max(0, ms);
  // What would round up to a whole next unit is told in that one.
  if (past < 999.5) return { unit: 'ms', count: Math.round(past) };
  if (past < 59.5 * SECOND_MS) return { unit: 's', count: rounded(past / SECOND_MS) };
  if (past < 59.5 * MINUTE_MS) return { unit: 'min', count: rounded(past / MINUTE_MS) };
  if (past < 23.5 * HOUR_MS) return { unit: 'h', count: rounded(past / HOUR_MS) };
  return { unit: 'd', count: rounded(past / DAY_MS) };
}

function rounded(count: number): number {
  return count < 10 ? Math.round(count * 10) / 10 : Math.round(count);
}
