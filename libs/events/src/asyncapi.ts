import { EVENT_TYPES, EVENTS, publisherOf, topicOfModule, type EventType } from './catalogue.js';
import { PUBLISHERS, type Publisher } from './definition.js';
import { sourceOf, TYPE_HEADER } from './envelope.js';
import { dataSchema, envelopeJsonSchema, type JsonSchema } from './json-schema.js';

const DESCRIPTION = [
  'Domain events that the modules of the platform publish, each to one Kafka topic.',
  'Structured CloudEvents 1.0 in JSON. Delivery is at least once: recognise an event by its id.',
  'Events with the same key keep their order. A version changes only by optional fields that are added.',
  `The Kafka header ${TYPE_HEADER} repeats the type, so that a consumer passes over what it does not take without parsing`,
  'the value. Records published before November 2026, which topics keep for seven days, are without it: read their type',
  'in the value.',
].join(' ');

/** The AsyncAPI 3.0 document of all domain events, made from the schemas that producers and consumers check by. */
export function asyncApiDocument(version: string): JsonSchema {
  return {
    asyncapi: '3.0.0',
    info: { title: 'Customer Platform domain events', version, description: DESCRIPTION },
    defaultContentType: 'application/cloudevents+json',
    channels: Object.fromEntries(PUBLISHERS.map((module) => [topicOfModule(module), channel(module)])),
    operations: Object.fromEntries(PUBLISHERS.map((module) => [`${module}.publish`, operation(module)])),
    components: {
      messages: Object.fromEntries(EVENT_TYPES.map((type) => [type, message(type)])),
      schemas: { CloudEvent: envelopeJsonSchema() },
    },
  };
}

function typesOf(module: Publisher): EventType[] {
  return EVENT_TYPES.filter((type) => publisherOf(type) === module);
}

function channel(module: Publisher): JsonSchema {
  return {
    address: topicOfModule(module),
    title: `Domain events of ${module}`,
    messages: Object.fromEntries(
      typesOf(module).map((type) => [type, { $ref: `#/components/messages/${type}` }]),
    ),
    bindings: {
      kafka: { topic: topicOfModule(module), topicConfiguration: { 'retention.ms': 604_800_000 } },
    },
  };
}

function operation(module: Publisher): JsonSchema {
  return {
    action: 'send',
    channel: { $ref: `#/channels/${topicOfModule(module)}` },
    summary: `${module} publishes`,
    messages: typesOf(module).map((type) => ({
      $ref: `#/channels/${topicOfModule(module)}/messages/${type}`,
    })),
  };
}

function message(type: EventType): JsonSchema {
  const { key, summary } = EVENTS[type];
  return {
    name: type,
    title: type,
    summary,
    contentType: 'application/cloudevents+json',
    headers: {
      type: 'object',
      properties: { [TYPE_HEADER]: { const: type, description: 'The type of the event, in UTF-8.' } },
    },
    payload: {
      allOf: [
        { $ref: '#/components/schemas/CloudEvent' },
        {
          type: 'object',
          properties: {
            type: { const: type },
            source: { const: sourceOf(type) },
            data: dataSchema(type),
          },
          required: ['data'],
        },
      ],
    },
    bindings: { kafka: { key: { type: 'string', description: `data.${key}` } } },
  };
}
