import type { DomainEvent } from '@customer-platform/events';
import type { EventFailure } from '../on-event.decorator.js';

/** What the transport hands to a handler: a run of events, or one event that is given up, with the reason. */
export class EventDelivery {
  constructor(
    readonly events: readonly DomainEvent[],
    readonly failure?: EventFailure,
  ) {}
}
