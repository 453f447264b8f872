/** The states of a send (messaging.md §5). */
export const SEND_STATES = [
  'accepted',
  'rendering',
  'gated',
  'dispatching',
  'held',
  'sent',
  'unknown',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'suppressed',
  'opted_out',
  'capped',
  'failed',
  'canceled',
] as const;

/** One of the states of a send. */
export type SendState = (typeof SEND_STATES)[number];

/** States in which a dispatcher may still take the send up; every other is an outcome. */
export const OPEN_STATES: readonly SendState[] = ['accepted', 'rendering', 'gated', 'dispatching', 'held'];
const OPEN: ReadonlySet<SendState> = new Set(OPEN_STATES);

/** Outcomes of a hand-off and of what providers report later: the highest ever reached stands. */
const REPORTED: readonly SendState[] = [
  'unknown',
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
];

const NEXT: Readonly<Record<string, readonly SendState[]>> = {
  accepted: ['rendering'],
  rendering: ['gated', 'held'],
  held: ['gated'],
  gated: ['dispatching', 'held'],
  dispatching: ['sent', 'bounced', 'gated', 'unknown'],
};

/** Where every open send may end without being handed over. */
const ENDS: readonly SendState[] = ['suppressed', 'opted_out', 'capped', 'failed', 'canceled'];

/** Whether no dispatcher will touch the send again; its content and data are dropped then. */
export function isFinal(state: SendState): boolean {
  return !OPEN.has(state);
}

/** Whether the table of messaging.md §5 allows the step. */
export function mayFollow(from: SendState, to: SendState): boolean {
  if (OPEN.has(from)) return ENDS.includes(to) || (NEXT[from]?.includes(to) ?? false);
  return REPORTED.includes(from) && REPORTED.indexOf(to) > REPORTED.indexOf(from);
}

/** The bit of a state in `sends.reached`, as the database's `send_state_bit` knows it. */
export function bitOf(state: SendState): number {
  return 1 << SEND_STATES.indexOf(state);
}
