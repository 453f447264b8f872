import type { ItemOf, Schemas } from '@customer-platform/client';

type Listed = ItemOf<'/v1/crm/contacts/{id}/timeline'>;
export type Source = Listed['source'];
type SendState = Schemas['SendStepDto']['state'];

/** What every item has, of a kind that is not known here too. */
export interface Common {
  id: string;
  occurred_at: string;
  correlation_id: string | null;
  title: string;
}

/** An item of the timeline, with the row of its source as that source answers it. */
export type Item = Common &
  (
    | { source: 'core'; type: 'event'; data: Schemas['EventDto'] }
    | { source: 'core'; type: 'consent'; data: Schemas['ConsentDto'] }
    | { source: 'loyalty'; type: 'transaction'; data: Schemas['TransactionDto'] }
    | { source: 'messaging'; type: 'send'; data: Schemas['SendDto'] }
  );

/** All that one request caused: its event, the points and the messages that followed. */
export interface Chain {
  /** The correlation id; of an item that has none, its own id. */
  key: string;
  correlationId: string | undefined;
  /** In the order in which the platform took them up. */
  items: readonly Item[];
  /** Of the newest item, by which the timeline orders. */
  at: string;
}

/** A message's way, each state with the time since the one before it. */
export interface SendStep {
  state: SendState;
  reason: string | null;
  attempt: number;
  smtpCode: number | null;
  at: string;
  afterMs: number;
}

/** A contact went into a segment. */
export interface Entry {
  segmentId: string;
  name: string;
  at: string;
  cause: string;
}

/** One step of an opened chain, with the time since the step before it. */
export type Step = { at: string; afterMs: number } & (
  { kind: 'item'; item: Item } | { kind: 'entry'; entry: Entry }
);

/** Of kinds that only a newer platform knows: last. */
const UNKNOWN_RANK = 5;
const RANKS: Record<string, number> = { event: 0, consent: 1, transaction: 3, send: 4 };
const ENTRY_RANK = 2;
/** A segment that was entered later than this is not told as the event's doing. */
const ENTRY_WITHIN_MS = 60_000;
/** As long after an event was received, what follows from it is waited for. */
const FOLLOWS_WITHIN_MS = 30_000;
const CAUSES_OF_CHAINS = new Set(['event', 'attribute', 'consent']);
const IN_FLIGHT: ReadonlySet<string> = new Set(['accepted', 'rendering', 'gated', 'dispatching']);

/** The items of several answers as one list: each once, the last that is given counts, in the timeline's order. */
export function united(...lists: readonly (readonly Item[])[]): Item[] {
  const parts = lists.filter(({ length }) => length > 0);
  if (parts.length === 1) return [...(parts[0] ?? [])];
  const byId = new Map<string, Item>();
  for (const items of parts) for (const item of items) byId.set(item.id, item);
  return [...byId.values()].sort(inOrder);
}

/** `occurred_at` descending, `source` ascending, `id` descending: as the API orders. */
function inOrder(one: Item, other: Item): number {
  if (one.occurred_at !== other.occurred_at) return one.occurred_at < other.occurred_at ? 1 : -1;
  if (one.source !== other.source) return one.source < other.source ? -1 : 1;
  return one.id < other.id ? 1 : -1;
}

/** Groups of one correlation id, at the place of the newest of each. */
export function chainsOf(items: readonly Item[]): Chain[] {
  const groups = new Map<string, { correlationId: string | undefined; at: string; items: Item[] }>();
  for (const item of items) {
    const correlationId = item.correlation_id ?? undefined;
    const key = correlationId ?? item.id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { correlationId, at: item.occurred_at, items: [item] });
    else group.items.push(item);
  }
  return [...groups].map(([key, group]) => ({
    key,
    ...group,
    items: group.items.length === 1 ? group.items : group.items.sort(inTurn),
  }));
}

/** The order in which the platform took them up. */
export function inTurn(one: Item, other: Item): number {
  const apart = millis(takenUpAt(one)) - millis(takenUpAt(other));
  return apart !== 0 ? apart : rankOf(one) - rankOf(other) || (one.id < other.id ? -1 : 1);
}

/** When the platform had it, which may be long after it happened. */
export function takenUpAt(item: Item): string {
  switch (item.type) {
    case 'event':
      return item.data.received_at;
    case 'consent':
      return item.data.recorded_at;
    default:
      return item.data.created_at;
  }
}

/** What a chain is named after: its first event, else its first item. */
export function headOf({ items }: Chain): Item {
  const head = items.find(({ type }) => type === 'event') ?? items[0];
  if (head === undefined) throw new Error('A chain has at least one item');
  return head;
}

/** The steps of a chain in the order in which they were taken, with the time between each and the one before. */
export function stepsOf(chain: Chain, entries: readonly Entry[]): Step[] {
  const unordered = [
    ...chain.items.map((item) => ({
      kind: 'item' as const,
      item,
      at: takenUpAt(item),
      rank: rankOf(item),
    })),
    ...entries.map((entry) => ({ kind: 'entry' as const, entry, at: entry.at, rank: ENTRY_RANK })),
  ];
  const ordered = unordered.sort((one, other) => millis(one.at) - millis(other.at) || one.rank - other.rank);
  return ordered.map(({ rank: _, ...step }, index) => ({
    ...step,
    afterMs: index === 0 ? 0 : millis(step.at) - millis(ordered[index - 1]?.at ?? step.at),
  }));
}

/** A message's states, each with the time since the one before. */
export function sendStepsOf(history: readonly Schemas['SendStepDto'][]): SendStep[] {
  return history.map(({ state, reason, attempt, smtp_code, occurred_at }, index) => ({
    state,
    reason,
    attempt,
    smtpCode: smtp_code,
    at: occurred_at,
    afterMs: index === 0 ? 0 : millis(occurred_at) - millis(history[index - 1]?.occurred_at ?? occurred_at),
  }));
}

/**
 * The segments that a chain led into. Memberships carry no correlation id: an entry belongs to what core took up last
 * before it, within a minute.
 */
export function entriesOf(chain: Chain, all: readonly Item[], entries: readonly Entry[]): Entry[] {
  const mine = new Set(chain.items.map(({ id }) => id));
  const taken = [...new Map([...all, ...chain.items].map((item) => [item.id, item])).values()]
    .filter(({ source }) => source === 'core')
    .map((item) => ({ id: item.id, at: millis(takenUpAt(item)) }));
  return entries.filter(({ at, cause }) => {
    if (!CAUSES_OF_CHAINS.has(cause)) return false;
    const entered = millis(at);
    const before = taken.filter((item) => item.at <= entered && entered - item.at <= ENTRY_WITHIN_MS);
    const last = before.reduce<(typeof before)[number] | undefined>(
      (latest, item) => (latest === undefined || item.at >= latest.at ? item : latest),
      undefined,
    );
    return last !== undefined && mine.has(last.id);
  });
}

/** What of a chain has not come to its end. */
interface Coming {
  /** An event was received so short a time ago that points and messages may follow. */
  mayFollow: boolean;
  /** Messages on their way. */
  inFlight: number;
}

export function comingOf({ items }: Chain, now: number): Coming {
  const mayFollow = items.some(
    ({ type, data }) => type === 'event' && now - millis(data.received_at) < FOLLOWS_WITHIN_MS,
  );
  const inFlight = items.filter(({ type, data }) => type === 'send' && isInFlight(data)).length;
  return { mayFollow, inFlight };
}

function isInFlight(data: Item['data']): boolean {
  return 'state' in data && IN_FLIGHT.has(data.state);
}

/** The sum of a chain's points; undefined where it has no transaction. */
export function pointsOf({ items }: Chain): number | undefined {
  const points = items.flatMap((item) => (item.type === 'transaction' ? [item.data.points] : []));
  return points.length === 0 ? undefined : points.reduce((sum, each) => sum + each, 0);
}

function millis(instant: string): number {
  return Date.parse(instant);
}

function rankOf({ type }: Item): number {
  return RANKS[type] ?? UNKNOWN_RANK;
}
