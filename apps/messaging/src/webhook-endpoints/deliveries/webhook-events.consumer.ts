import { Controller } from '@nestjs/common';
import { OnEvent } from '@customer-platform/event-bus';
import { EVENT_TYPES, type DomainEvent, type EventType } from '@customer-platform/events';
import { DeliveryQueue } from './delivery-queue.js';

/** Every module's events, to whomever has subscribed to them. */
@Controller()
export class WebhookEventsConsumer {
  constructor(private readonly queue: DeliveryQueue) {}

  @OnEvent<EventType>(EVENT_TYPES)
  async happened(events: DomainEvent[]): Promise<void> {
    const [first] = events;
    if (first) await this.queue.enqueue(first.type, events);
  }
}
