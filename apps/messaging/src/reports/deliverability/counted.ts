import { bitOf, SEND_STATES, type SendState } from '../../vocabulary/sends/send-state.js';

/** What sends are told apart by. */
export const DIMENSIONS = ['channel', 'sender_domain', 'recipient_domain', 'campaign'] as const;
/** One of them. */
export type Dimension = (typeof DIMENSIONS)[number];

/** Stands for what has no row of its own; no domain, channel and id of a campaign is written so. */
export const OTHERS = '*';
/** Stands for a send that has none. */
export const NONE = '';

/** Of them a hand-off to a provider has ended, well or not, or nobody knows how. */
const HANDED_OVER: readonly SendState[] = [
  'sent',
  'unknown',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
];
/** Nobody opens, clicks or complains about what has not arrived. */
const RECEIVED: readonly SendState[] = ['delivered', 'opened', 'clicked', 'complained'];

const maskOf = (states: readonly SendState[]): number =>
  states.reduce((mask, state) => mask | bitOf(state), 0);

/** What is counted, and of which bits of `sends.reached` one must be set for a send to count. */
export const COUNTED = {
  sends: maskOf(SEND_STATES),
  handed_over: maskOf(HANDED_OVER),
  received: maskOf(RECEIVED),
  ...(Object.fromEntries(SEND_STATES.map((state) => [state, bitOf(state)])) as Record<SendState, number>),
} as const;

/** A column of counts. */
export type CountedColumn = keyof typeof COUNTED;

/** The columns of counts, in one order. */
export const COUNTED_COLUMNS = Object.keys(COUNTED) as CountedColumn[];

/** By how much a change of `row` changes a count. */
export function changeOf(row: string, column: CountedColumn): string {
  const counts = (reached: string): string =>
    `(CASE WHEN ${row}.${reached} & ${String(COUNTED[column])} <> 0 THEN 1 ELSE 0 END)`;
  return `(${counts('reached_after')} - ${counts('reached_before')}) * ${row}.sends`;
}

/** The value of a dimension in a row that has its columns. */
export function valueOf(row: string, dimension: Dimension): string {
  const text = dimension === 'campaign' ? `${row}.campaign_id::text` : `${row}.${dimension}`;
  return `coalesce(${text}, '${NONE}')`;
}
