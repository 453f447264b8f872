import type { DataOf } from '@customer-platform/client';
import { dateIn } from '../ui/search-params.ts';

type Answer = DataOf<'get', '/v1/messaging/deliverability'>;
/** The API always counts; its description leaves that open. */
type Counted<Part extends { counts?: unknown }> = Omit<Part, 'counts'> & {
  counts: NonNullable<Part['counts']>;
};
export type Period = Counted<Answer['data'][number]>;
export type Figures = Counted<Answer['totals']>;
export type Deliverability = Omit<Answer, 'data' | 'totals'> & { data: Period[]; totals: Figures };

export const GRANULARITIES = ['hour', 'day', 'total'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

export const GROUPINGS = ['channel', 'sender_domain', 'recipient_domain', 'campaign'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** What groups are compared by. */
export const MEASURES = ['sends', 'delivered', 'bounced', 'complained', 'opened', 'clicked'] as const;
export type Measure = (typeof MEASURES)[number];

export const RATES = ['delivered', 'bounced', 'complained', 'opened', 'clicked'] as const;

/** In an address, the group of sends that have none; a channel, domain or campaign is never called so. */
export const NO_GROUP = 'none';
/** All groups that are not named (messaging.md §10). */
export const OTHER_GROUPS = '*';

/** At most so many days are answered for at once. */
export const MOST_DAYS = 92;
const DAY_MS = 86_400_000;
const DAYS_SHOWN = 30;
/** The years of which the API tells something. */
const [FIRST_DAY, LAST_DAY] = ['1970-01-01', '2999-12-31'] as const;

/** A date of the address of which there are figures. */
export function dayIn(search: Record<string, unknown>, name: string): string | undefined {
  const date = dateIn(search, name);
  return date !== undefined && date >= FIRST_DAY && date <= LAST_DAY ? date : undefined;
}

/** The days that are shown, as the API counts them: in UTC. What is not said is the thirty days that end with the last. */
export function rangeOf({ from, to }: { from?: string | undefined; to?: string | undefined }, now: Date) {
  const last = to ?? dayOf(now.getTime());
  return { from: from ?? dayOf(Date.parse(`${last}T00:00:00Z`) - (DAYS_SHOWN - 1) * DAY_MS), to: last };
}

function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

/** A day and the one after it: as sends are filtered, which end before. */
export function instantsOf({ from, to }: { from: string; to: string }): { from: string; to: string } {
  return {
    from: `${from}T00:00:00.000Z`,
    to: new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS).toISOString(),
  };
}

export const groupKey = (group: string | null): string => group ?? NO_GROUP;

/** The periods of one group, with those in which it has no send. */
export function ofGroup(periods: readonly Period[], all: readonly Period[], group: string): Period[] {
  const own = new Map(
    periods.filter((each) => groupKey(each.group) === group).map((each) => [each.period_start, each]),
  );
  return all.map((period) => own.get(period.period_start) ?? emptied(period));
}

function emptied(period: Period): Period {
  const counts = Object.fromEntries(
    Object.keys(period.counts).map((state) => [state, 0]),
  ) as Period['counts'];
  return { ...period, ...NOTHING, counts };
}

const NOTHING = {
  sends: 0,
  handed_over: 0,
  received: 0,
  rates: { delivered: null, bounced: null, complained: null, opened: null, clicked: null },
};

/** Groups by what one compares them by, the largest first; those that have no such share last. */
export function sorted(groups: readonly Period[], by: Measure): Period[] {
  const measure = (period: Period): number => (by === 'sends' ? period.sends : (period.rates[by] ?? -1));
  return groups.toSorted((one, other) => measure(other) - measure(one));
}

/** Where the sends of a group are listed; nothing where they cannot be filtered so. */
export function sendsOf(by: Grouping | undefined, group: string | null) {
  if (group === OTHER_GROUPS) return undefined;
  if (by === undefined) return {};
  if (group === null) return undefined;
  if (by === 'channel') return { channel: group };
  return by === 'campaign' ? { source_id: group } : undefined;
}
