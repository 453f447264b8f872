import type { Period } from '../deliverability/deliverability.ts';

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** The hour that goes on and those before it, together a day: since when, and the dates that they are on, in UTC. */
export function lastHours(now: Date): { since: string; from: string; to: string } {
  const hour = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  const since = new Date(hour - (HOURS - 1) * HOUR_MS).toISOString();
  return { since, from: since.slice(0, 10), to: now.toISOString().slice(0, 10) };
}

/** States that end a send, or that its reader brings about: who has been in one is counted there for good. */
const ENDS = ['suppressed', 'opted_out', 'capped', 'failed', 'canceled'] as const;
const REPORTS = ['opened', 'clicked', 'bounced', 'complained'] as const;

type Counted = Pick<Period, 'period_start' | 'sends' | 'handed_over' | 'received' | 'counts'>;

/** Sums what became of the sends of the periods that begin at an instant or later; leaves out what is zero. */
export function sendsSince(periods: readonly Counted[], since: string): Record<string, number> {
  const counted = periods.filter(({ period_start: start }) => Date.parse(start) >= Date.parse(since));
  const sum = (of: (period: Counted) => number): number =>
    counted.reduce((before, period) => before + of(period), 0);
  const all = sum(({ sends }) => sends);
  const handedOver = sum(({ handed_over: handed }) => handed);
  const states = [...REPORTS, ...ENDS].map((state) => [state, sum(({ counts }) => counts[state])] as const);
  const ended = sum(({ counts }) => ENDS.reduce((before, state) => before + counts[state], 0));
  const parts = [
    ['all', all],
    ['handed_over', handedOver],
    ['received', sum(({ received }) => received)],
    ...states,
    // A provider may report as failed what was handed over to it.
    ['waiting', Math.max(0, all - handedOver - ended)],
  ] as const;
  return Object.fromEntries(parts.filter(([, count]) => count > 0));
}
