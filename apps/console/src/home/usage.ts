import type { DataOf } from '@customer-platform/client';

type Usage = DataOf<'get', '/v1/core/usage'>;
export type UsagePeriod = Usage['data'][number];

const DAYS_SHOWN = 30;
const DAY_MS = 86_400_000;

/** The last thirty days, today included, as the API counts days: in UTC. */
export function lastDays(now: Date): { from: string; to: string } {
  const day = (instant: number): string => new Date(instant).toISOString().slice(0, 10);
  return { from: day(now.getTime() - (DAYS_SHOWN - 1) * DAY_MS), to: day(now.getTime()) };
}

/** Nothing was ever sent. */
export function isUntouched({ totals }: Usage): boolean {
  return totals.events.accepted === 0 && totals.events.refused === 0 && totals.contacts.active === 0;
}
