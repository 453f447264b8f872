import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { EVENT_TYPES, EVENTS, isEventType, publisherOf, topicOf } from './catalogue.js';
import { correlationIdFrom } from './correlation.js';
import {
  checkEvent,
  ForeignEvent,
  InvalidDomainEvent,
  parseDomainEvent,
  sourceOf,
  UnknownEventType,
} from './envelope.js';

const TOPIC = 'core.domain-events';
const contactId = randomUUID();

function anEvent(override: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    specversion: '1.0',
    id: randomUUID(),
    type: 'core.event.recorded.v1',
    source: 'urn:customer-platform:core',
    subject: `contacts/${contactId}`,
    time: '2026-11-21T09:30:00.000Z',
    datacontenttype: 'application/json',
    organizationid: randomUUID(),
    correlationid: randomUUID(),
    data: {
      event_id: randomUUID(),
      contact_id: contactId,
      external_id: 'c-1',
      event: 'invoice_paid',
      occurred_at: '2026-11-21T09:30:00.000Z',
      received_at: '2026-11-21T09:30:00.120Z',
      properties: { amount: 12_990, currency: 'CLP' },
    },
    ...override,
  };
}

describe('the catalogue', () => {
  it('names every event <module>.<noun>.<verb>.v<n> and keys it by a field of its data', () => {
    for (const type of EVENT_TYPES) {
      expect(type).toMatch(/^(core|crm|identity|loyalty|messaging)\.[a-z_]+\.[a-z_]+\.v[1-9]$/);
      expect(Object.keys(EVENTS[type].schema.shape)).toContain(EVENTS[type].key);
    }
  });

  it('knows the topic of every type and no other', () => {
    expect(topicOf('core.event.recorded.v1')).toBe('core.domain-events');
    expect(publisherOf('loyalty.points.earned.v1')).toBe('loyalty');
    expect(isEventType('core.event.recorded.v9')).toBe(false);
    expect(isEventType('toString')).toBe(false);
    expect(() => publisherOf('billing.invoice.paid.v1')).toThrow(TypeError);
  });

  it.each([
    ['core', 27],
    ['crm', 36],
    ['identity', 52],
    ['loyalty', 12],
    ['messaging', 32],
  ])('holds the events of %s', (module, count) => {
    expect(EVENT_TYPES.filter((type) => publisherOf(type) === module)).toHaveLength(count);
  });

  it('never lets a consent, a member list or a CRM record carry text or values', () => {
    const crm = EVENT_TYPES.filter((type) => publisherOf(type) === 'crm');
    const fields = new Set(crm.flatMap((type) => Object.keys(EVENTS[type].schema.shape)));
    expect([...fields].sort()).toEqual(
      [
        'changed',
        'contact_id',
        'contact_ids',
        'counts',
        'id',
        'list_id',
        'outcome',
        'receipt',
        'slug',
        'subject_request_id',
        'type_id',
      ].sort(),
    );
  });
});

describe('an event that is nested', () => {
  const nested = (levels: number): string => {
    const properties = `"properties":{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const text = JSON.stringify(anEvent()).replace(/"properties":\{[^}]*\}/, properties);
    expect(text).toContain(properties);
    return text;
  };

  it('as deep as callers may is read', () => {
    expect(parseDomainEvent(TOPIC, nested(32)).type).toBe('core.event.recorded.v1');
  });

  it('thousands of levels deep is none: nobody could write it again', () => {
    expect(() => parseDomainEvent(TOPIC, nested(5_000))).toThrow(
      new InvalidDomainEvent(
        'core.event.recorded.v1',
        'core.event.recorded.v1: nested more than 100 levels deep',
      ),
    );
  });
});

/** A trace id written as a UUID, as callers send it: version 12 of a variant that there is not. */
const OF_NO_VERSION = '01234567-89ab-cdef-0123-456789abcdef';

describe('correlationIdFrom', () => {
  it.each([OF_NO_VERSION, OF_NO_VERSION.toUpperCase(), 'ffffffff-ffff-ffff-ffff-fffffffffffe', randomUUID()])(
    'takes %s, which the envelope then reads',
    (header) => {
      const correlationid = correlationIdFrom(header);
      expect(correlationid).toBe(header.toLowerCase());
      const event = anEvent({ correlationid });
      expect(parseDomainEvent(TOPIC, JSON.stringify(event))).toEqual(event);
    },
  );

  it.each([undefined, '', 'abc', `${OF_NO_VERSION}0`, `{${OF_NO_VERSION}}`, [OF_NO_VERSION, OF_NO_VERSION]])(
    'makes a new one of %j',
    (header) => {
      expect(correlationIdFrom(header)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/);
    },
  );
});

describe('parseDomainEvent', () => {
  it('reads what was written, fields of a newer publisher included', () => {
    const event = anEvent({ causationid: randomUUID(), dataschema: 'later' });
    (event['data'] as Record<string, unknown>)['added_later'] = 1;
    expect(parseDomainEvent(TOPIC, JSON.stringify(event))).toEqual(event);
  });

  it.each([
    ['no JSON', '{'],
    ['no object', '"text"'],
    ['null', 'null'],
    ['no envelope', '{}'],
    ['another version of CloudEvents', JSON.stringify(anEvent({ specversion: '0.3' }))],
    ['an id that is none', JSON.stringify(anEvent({ id: '1' }))],
    ['no organization', JSON.stringify(anEvent({ organizationid: undefined }))],
    ['a time with an offset', JSON.stringify(anEvent({ time: '2026-11-21T09:30:00.000+02:00' }))],
    ['no data', JSON.stringify(anEvent({ data: undefined }))],
    ['data of another type', JSON.stringify(anEvent({ type: 'core.contact.merged.v1' }))],
  ])('refuses %s', (_, text) => {
    expect(() => parseDomainEvent(TOPIC, text)).toThrow(InvalidDomainEvent);
  });

  it('tells a type it does not know from one that is wrong', () => {
    expect(() =>
      parseDomainEvent(TOPIC, JSON.stringify(anEvent({ type: 'core.event.recorded.v2', data: {} }))),
    ).toThrow(UnknownEventType);
  });

  it.each([
    ['its type is another module’s', { type: 'loyalty.points.earned.v1' }, /is no event of core/],
    ['its type is nobody’s', { type: 'core' }, /is no event of core/],
    ['its type only begins alike', { type: 'corex.contact.erased.v1' }, /is no event of core/],
    ['its source is another module', { source: 'urn:customer-platform:crm' }, /source is another/],
  ])('refuses what its topic’s module did not write: %s', (_, change, sentence) => {
    const event = anEvent(change);
    const read = (): unknown => parseDomainEvent(TOPIC, JSON.stringify(event));
    expect(read).toThrow(ForeignEvent);
    expect(read).toThrow(sentence);
  });

  it('reads nothing of a topic that is no module’s', () => {
    expect(() => parseDomainEvent('core.ingestion', JSON.stringify(anEvent()))).toThrow(ForeignEvent);
  });

  it('names the fields at fault and never their values', () => {
    const event = anEvent({ data: { contact_id: 'ana@example.com', properties: 7 } });
    const read = (): unknown => parseDomainEvent(TOPIC, JSON.stringify(event));
    expect(read).toThrow(/data\.contact_id/);
    expect(read).not.toThrow(/ana@example/);
  });
});

describe('checkEvent', () => {
  it('takes what every published schema itself describes', () => {
    for (const type of EVENT_TYPES) {
      const data = sampleOf(EVENTS[type].schema);
      expect(() => {
        checkEvent(anEvent({ type, data }));
      }).not.toThrow();
    }
  });

  it('refuses what lacks a field', () => {
    expect(() => {
      checkEvent(anEvent({ type: 'core.erasure.requested.v1', data: { contact_id: contactId } }));
    }).toThrow(InvalidDomainEvent);
  });

  it('tells whose the refused one is, where that can be read', () => {
    const organizationid = randomUUID();
    const refusalOf = (change: object): unknown => {
      try {
        checkEvent(anEvent({ id: 'none', ...change }));
      } catch (error) {
        return error;
      }
      return undefined;
    };
    expect(refusalOf({ organizationid: organizationid.toUpperCase() })).toMatchObject({
      organizationId: organizationid,
      type: 'core.event.recorded.v1',
    });
    expect(refusalOf({ organizationid: 'none' })).toMatchObject({ organizationId: undefined });
  });

  it('knows the source of a type', () => {
    expect(sourceOf('messaging.send.sent.v1')).toBe('urn:customer-platform:messaging');
  });
});

/** Some value that a schema allows. */
function sampleOf(schema: z.ZodType): unknown {
  const definition = z.toJSONSchema(schema, { io: 'input' }) as Sketch;
  return fill(definition);
}

interface Sketch {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  anyOf?: Sketch[];
  properties?: Record<string, Sketch>;
  items?: Sketch;
}

function fill(sketch: Sketch): unknown {
  if (Array.isArray(sketch.type)) return fill({ ...sketch, type: sketch.type[0] });
  if (sketch.anyOf) return fill(sketch.anyOf[0] ?? {});
  if (sketch.enum) return sketch.enum[0];
  if (sketch.format === 'uuid') return contactId;
  if (sketch.format === 'date-time') return '2026-11-21T09:30:00.000Z';
  if (sketch.type === 'string') return 'text';
  if (sketch.type === 'integer') return 1;
  if (sketch.type === 'boolean') return true;
  if (sketch.type === 'null') return null;
  if (sketch.type === 'array') return [fill(sketch.items ?? {})];
  return Object.fromEntries(
    Object.entries(sketch.properties ?? {}).map(([name, inner]) => [name, fill(inner)]),
  );
}
