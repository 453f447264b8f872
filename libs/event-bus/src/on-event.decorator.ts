import { EventPattern } from '@nestjs/microservices';
import { UseFilters } from '@nestjs/common';
import type { DomainEvent, EventType } from '@customer-platform/events';
import { EventDelivery, type EventFailure } from './delivery/event-delivery.js';
import { PassErrorsOn } from './delivery/pass-errors-on.filter.js';

/** Options of {@link OnEvent}. */
interface OnEventOptions {
  /**
   * The method of the same class that takes an event that failed three times: `(event, failure) => Promise<void>`.
   * Without it the event is written to the table `parked_events`. Either way later events go on.
   */
  readonly failed?: string;
}

const heard = new WeakMap<object, EventType[]>();

/** The types of events that a class takes. */
export function typesHeardBy(subscriber: object): readonly EventType[] {
  return heard.get(subscriber) ?? [];
}

/** What `@OnEvent` stands on: a method that takes a run of events. */
type EventHandler<T extends EventType> = (events: DomainEvent<T>[]) => Promise<void>;

/** What an event's handler needs to know beyond the pattern. */
export interface OnEventExtras {
  readonly subscriber: object;
  readonly failed: boolean;
}

/**
 * Subscribes a method of a controller to events of these types. The method receives a run of events in their order;
 * events of one key keep their order across all types that the class subscribes to.
 *
 * What the method does must be one transaction (or repeatable): a throw means that nothing of the run happened. An
 * infrastructure error is tried again for as long as it lasts; any other makes the run be split until the events at
 * fault stand alone, and those are tried three times with growing pauses, holding back only later events of their own
 * key. An error that may be an outage or one event's doing (a time limit, memory, locks) is told apart: an event that goes
 * on meeting it alone while others come through is given up as well. Delivery is at least once: use `Inbox.claim` in the transaction of the effect.
 */
export function OnEvent<T extends EventType>(
  types: T | readonly T[],
  options: OnEventOptions = {},
): <D extends EventHandler<T>>(target: object, key: string, descriptor: TypedPropertyDescriptor<D>) => void {
  return (target, key, descriptor) => {
    const handle = descriptor.value as unknown as EventHandler<T>;
    const receive = async function (this: Record<string, unknown>, received: unknown): Promise<void> {
      if (!(received instanceof EventDelivery)) return handle.call(this, received as DomainEvent<T>[]);
      if (!received.failure) return handle.call(this, received.events as DomainEvent<T>[]);
      const failed = this[options.failed ?? ''] as (
        event: DomainEvent,
        failure: EventFailure,
      ) => Promise<void>;
      for (const event of received.events) await failed.call(this, event, received.failure);
    };
    Object.defineProperty(receive, 'name', { value: key });
    (descriptor as PropertyDescriptor).value = receive;
    heard.set(target.constructor, [...typesHeardBy(target.constructor), ...[types].flat()]);
    const extras: OnEventExtras = { subscriber: target.constructor, failed: options.failed !== undefined };
    EventPattern([types].flat(), extras)(target, key, descriptor as PropertyDescriptor);
    UseFilters(PassErrorsOn)(target, key, descriptor as PropertyDescriptor);
  };
}
