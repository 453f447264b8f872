import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { asyncApiDocument } from './asyncapi.js';
import { EVENT_TYPES } from './catalogue.js';
import { ASYNCAPI, fileText, VERSION } from './publish-schemas.js';

const definition = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json') as Record<
  string,
  unknown
>;

interface Message {
  headers: unknown;
  payload: { allOf: [{ $ref: string }, { properties: { data: Record<string, unknown> } }] };
}

const document = asyncApiDocument(VERSION) as {
  channels: Record<string, { messages: Record<string, { $ref: string }> }>;
  operations: Record<string, { channel: { $ref: string }; messages: { $ref: string }[] }>;
  components: { messages: Record<string, Message>; schemas: Record<string, unknown> };
};

function at(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);
}

describe('asyncApiDocument', () => {
  it('is a valid AsyncAPI 3.0 document', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
    const validate = ajv.compile(definition);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ ...document, operations: { broken: { action: 'shout' } } })).toBe(false);
  });

  it('states every event once, on the topic of its module', () => {
    const stated = Object.entries(document.channels).flatMap(([topic, { messages }]) =>
      Object.keys(messages).map((type) => [topic, type]),
    );
    expect(stated.map(([, type]) => type).sort()).toEqual([...EVENT_TYPES].sort());
    for (const [topic, type] of stated) expect(topic).toBe(`${type?.split('.')[0] ?? ''}.domain-events`);
  });

  it('states the Kafka header that repeats the type of each event', () => {
    for (const type of EVENT_TYPES) {
      expect(document.components.messages[type]?.headers).toMatchObject({
        properties: { ce_type: { const: type } },
      });
    }
  });

  it('has no reference that leads nowhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, found]) => found ?? '',
    );
    expect(references.length).toBeGreaterThan(EVENT_TYPES.length);
    for (const reference of references) expect(at(reference)).toBeDefined();
  });

  it('is committed as it is: after a change run publish-schemas', () => {
    expect(readFileSync(ASYNCAPI, 'utf8')).toBe(fileText(document));
  });
});
