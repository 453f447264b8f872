import { EVENT_TYPES, type EventType } from '@customer-platform/events';

/** The name of an event, without its version: `core.contact.created`. */
export function eventName(type: string): string {
  return type.replace(/\.v\d+$/, '');
}

/** The names of all events. */
export const EVENT_NAMES: readonly string[] = [...new Set(EVENT_TYPES.map(eventName))].sort();
const MODULES = [...new Set(EVENT_NAMES.map(moduleOf))].map((module) => `${module}.*`);

/** Everything that can be subscribed to: any module's events by name, or all of one module. */
export const SUBSCRIPTIONS: readonly string[] = [...MODULES, ...EVENT_NAMES];

/** What an endpoint may have subscribed to in order to be told of this event. */
export function subscriptionsTo(type: EventType): string[] {
  const name = eventName(type);
  return [name, `${moduleOf(name)}.*`];
}

function moduleOf(name: string): string {
  return name.slice(0, name.indexOf('.'));
}
