import type { DomainEvent, EventType } from '@customer-platform/events';
import type { Keyed } from '../delivery/layers.js';

/** A domain event with its Kafka key. */
export interface ReceivedEvent extends Keyed {
  readonly type: EventType;
  readonly topic: string;
  readonly event: DomainEvent;
}
