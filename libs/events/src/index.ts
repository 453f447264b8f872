export { asyncApiDocument } from './asyncapi.js';
export {
  EVENTS,
  EVENT_TYPES,
  isEventType,
  publisherOf,
  topicOf,
  topicOfModule,
  type EventData,
  type EventType,
} from './catalogue.js';
export { contactSnapshot } from './core.events.js';
export { LIFECYCLE, PUBLISHERS, type EventDefinition, type Publisher } from './definition.js';
export {
  checkData,
  envelopeSchema,
  InvalidDomainEvent,
  parseDomainEvent,
  sourceOf,
  TYPE_HEADER,
  UnknownEventType,
  type DomainEvent,
} from './envelope.js';
export { type JsonSchema } from './json-schema.js';
