import type { DomainEvent } from '@customer-platform/events';

/**
 * What a rule can answer to: never messaging's own events, or two rules could answer each other for ever, and never
 * identity's, whose mail is the platform's alone (messaging.md §3).
 */
export const ROUTABLE_EVENTS = [
  'core.event.recorded',
  'core.segment.entered',
  'core.segment.left',
  'loyalty.points.earned',
  'loyalty.points.spent',
  'loyalty.points.expired',
] as const;

/** The name of a routable event, without its version. */
export type RoutableEvent = (typeof ROUTABLE_EVENTS)[number];

/** The types that rules can answer to, as they travel. */
export type RoutedType = `${RoutableEvent}.v1`;

/** The types that rules can answer to, as they travel. */
export const ROUTED_TYPES = ROUTABLE_EVENTS.map((name): RoutedType => `${name}.v1`);

/** An event as far as rules look at it. */
export interface RoutedEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly correlationId: string;
  readonly type: RoutableEvent;
  readonly name: string | null;
  /** Null for what concerns no contact. */
  readonly contactId: string | null;
  readonly data: Record<string, unknown>;
}

/** Causes by which a segment membership may lead to a message (core.md §7); the others move whole populations. */
const TELLING_CAUSES = new Set(['event', 'attribute', 'consent', 'time']);

/** What rules see of a domain event; undefined where it must not lead to a message. */
export function routedEvent(event: DomainEvent<RoutedType>): RoutedEvent | undefined {
  const { type, data } = event;
  if (
    (type === 'core.segment.entered.v1' || type === 'core.segment.left.v1') &&
    !TELLING_CAUSES.has(data.cause)
  ) {
    return undefined;
  }
  const name = type.slice(0, -'.v1'.length) as RoutableEvent;
  return {
    id: event.id,
    organizationId: event.organizationid,
    correlationId: event.correlationid,
    type: name,
    name: type === 'core.event.recorded.v1' ? data.event : null,
    contactId: 'contact_id' in data ? data.contact_id : null,
    data: data,
  };
}
