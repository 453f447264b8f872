import type { Publisher } from '@customer-platform/events';

/** What an app says about itself to the event bus. */
export interface EventBusOptions {
  /** The module's name: its consumer group, its client id, the `source` of its events. */
  readonly module: Publisher;
  /** Consumer group of the domain events; default `<module>.domain-events`. The topic prefix is put before it. */
  readonly group?: string;
  /** How many runs of events are worked on at once, each of what some partitions brought together; default 3. */
  readonly concurrency?: number;
  /** For commands that only look: topics that exist are taken as they are set. */
  readonly readsOnly?: boolean;
}

/** The injection token of {@link EventBusOptions}. */
export const EVENT_BUS_OPTIONS = Symbol('EVENT_BUS_OPTIONS');
