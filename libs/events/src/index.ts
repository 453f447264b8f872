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
export {
  SHARED_CONTACT_FIELDS,
  SHARED_CONTACT_NAMES,
  sharedFieldsOf,
  type SharedContactField,
  type SharedContactFields,
} from './contact-fields.js';
export { correlationIdFrom } from './correlation.js';
export { dataSchema } from './json-schema.js';
export { LIFECYCLE, type Publisher } from './definition.js';
export { namesOf, recordOf, type NamesOf } from './names.js';
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
