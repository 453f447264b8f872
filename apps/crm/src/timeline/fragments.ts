import type { Permission } from '@customer-platform/permissions';

/** A module whose data the timeline shows. */
export type Source = 'core' | 'loyalty' | 'messaging';

/** What an item of the timeline is. */
export type ItemType = 'event' | 'consent' | 'transaction' | 'send';

/** An item of a source, as far as the timeline looks into it. The rest is passed on as it came. */
export type SourceItem = Readonly<Record<string, unknown>>;

/** One part of the timeline: the items of one type, from one list of one module, under one permission. */
export interface Fragment {
  readonly source: Source;
  readonly type: ItemType;
  /** Without it the fragment is not asked for. */
  readonly permission: Permission;
  /** Path and query that select the contact. */
  readonly path: (contactId: string) => string;
  /** The field that says when an item happened. */
  readonly occurredAt: string;
  /** The fields that the title is made of. */
  readonly titled: readonly string[];
  /** What a person reads; untranslated. */
  readonly title: (item: SourceItem) => string;
}

/**
 * The parts of the timeline (crm.md §4), in an order that cursors rely on: new ones go to the end. A module or a list
 * that is not delivered answers 404, which is no data and no failure: it is a source from the day on that it is there.
 */
export const FRAGMENTS: readonly Fragment[] = [
  {
    source: 'core',
    type: 'event',
    permission: 'core.events.read',
    path: (contactId) => `/v1/core/events?contact_id=${contactId}`,
    occurredAt: 'occurred_at',
    titled: ['event', 'type'],
    title: ({ event, type }) => text(event ?? type),
  },
  {
    source: 'core',
    type: 'consent',
    permission: 'core.consents.read',
    path: (contactId) => `/v1/core/contacts/${contactId}/consents?view=history`,
    occurredAt: 'occurred_at',
    titled: ['purpose', 'status'],
    title: ({ purpose, status }) => `${text(purpose)} ${text(status)}`,
  },
  {
    source: 'loyalty',
    type: 'transaction',
    permission: 'loyalty.transactions.read',
    path: (contactId) => `/v1/loyalty/transactions?contact_id=${contactId}`,
    occurredAt: 'occurred_at',
    titled: ['kind', 'points'],
    title: ({ kind, points }) => `${text(kind)} ${signed(points)}`,
  },
  {
    source: 'messaging',
    type: 'send',
    permission: 'messaging.sends.read',
    path: (contactId) => `/v1/messaging/sends?contact_id=${contactId}`,
    // A send is in the timeline from when it was asked for (the public contract, "Lists").
    occurredAt: 'created_at',
    titled: ['channel', 'state'],
    title: ({ channel, state }) => `${text(channel)} ${text(state)}`,
  },
];

/** The fields of an item that the timeline looks into. */
export function fieldsOf({ occurredAt, titled }: Fragment): string[] {
  return ['id', 'correlation_id', occurredAt, ...titled];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function signed(points: unknown): string {
  if (typeof points !== 'number') return '';
  return points < 0 ? String(points) : `+${String(points)}`;
}
