import type { DomainEvent, EventType } from '@customer-platform/events';
import type { Delivered } from '../delivery/chunk.delivery.js';

/** A domain event with its Kafka key. */
export interface ReceivedEvent extends Delivered {
  readonly type: EventType;
  readonly topic: string;
  /** The partition it came from, among those of all topics. */
  readonly part: string;
  /** Its organization. */
  readonly owner: string;
  readonly event: DomainEvent;
}
