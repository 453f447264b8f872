import type { z } from 'zod';
import { CORE_EVENTS } from './core.events.js';
import { CRM_EVENTS } from './crm.events.js';
import { PUBLISHERS, type Publisher } from './definition.js';
import { IDENTITY_EVENTS } from './identity.events.js';
import { LOYALTY_EVENTS } from './loyalty.events.js';
import { MESSAGING_EVENTS } from './messaging.events.js';

/** Every domain event there is: type with version → schema of its data, Kafka key, summary. */
export const EVENTS = {
  ...CORE_EVENTS,
  ...CRM_EVENTS,
  ...IDENTITY_EVENTS,
  ...LOYALTY_EVENTS,
  ...MESSAGING_EVENTS,
} as const;

/** The type of an event, with its version: `core.event.recorded.v1`. */
export type EventType = keyof typeof EVENTS;

/** The data an event of type `T` carries. */
export type EventData<T extends EventType> = z.infer<(typeof EVENTS)[T]['schema']>;

/** All types, in the order in which the publishers state them. */
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** Whether the text names an event this build knows. */
export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENTS, text);
}

/** The module that publishes events of a type: its first segment. */
export function publisherOf(type: string): Publisher {
  const publisher = PUBLISHERS.find((module) => type.startsWith(`${module}.`));
  if (!publisher) throw new TypeError(`no module publishes ${type}`);
  return publisher;
}

/** The topic of a module's domain events. */
export function topicOfModule(module: Publisher): `${Publisher}.domain-events` {
  return `${module}.domain-events`;
}

/** Whether events of a type are told on this topic, by the module whose it is; also of types that are not known here. */
export function isOfTopic(type: string, topic: string): boolean {
  const prefix = PREFIXES.get(topic);
  return prefix !== undefined && type.startsWith(prefix);
}

/** How the types of a topic begin. */
const PREFIXES = new Map<string, string>(PUBLISHERS.map((module) => [topicOfModule(module), `${module}.`]));

/** The topic to which events of a type go: `<module>.domain-events`. */
export function topicOf(type: EventType): `${Publisher}.domain-events` {
  return topicOfModule(publisherOf(type));
}
