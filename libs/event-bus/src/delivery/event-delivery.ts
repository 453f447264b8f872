import type { DomainEvent } from '@customer-platform/events';

/** Why an event was given up. */
export interface EventFailure {
  readonly error: unknown;
  readonly attempts: number;
}

/** What the transport hands to a handler: a run of events, or one event that is given up, with the reason. */
export class EventDelivery {
  constructor(
    readonly events: readonly DomainEvent[],
    readonly failure?: EventFailure,
  ) {}
}
