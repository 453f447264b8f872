export { asyncApiDocument } from './asyncapi.js';
export {
  EVENTS,
  EVENT_TYPES,
  isEventType,
  isOfTopic,
  publisherOf,
  topicOf,
  topicOfModule,
  type EventData,
  type EventType,
} from './catalogue.js';
export { correlationIdFrom } from './correlation.js';
export { dataSchema } from './json-schema.js';
export { LIFECYCLE, type Publisher } from './definition.js';
export { isWriterOf, ownerOfTopic, RECORD_TOPICS, recordTopic, type RecordTopicName } from './topics.js';
export {
  checkEvent,
  ForeignEvent,
  InvalidDomainEvent,
  parseDomainEvent,
  sourceOf,
  TYPE_HEADER,
  UnknownEventType,
  UnprovenEvent,
  type DomainEvent,
} from './envelope.js';
