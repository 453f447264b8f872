import { z } from 'zod';
import { EVENTS, isEventType, isOfTopic, publisherOf, type EventData, type EventType } from './catalogue.js';
import { id, instant } from './wire.js';

/**
 * A domain event in the structured JSON form of CloudEvents 1.0, with the extension attributes that tie it to its
 * organization and to its cause.
 */
export type DomainEvent<T extends EventType = EventType> = {
  [K in T]: {
    specversion: '1.0';
    id: string;
    type: K;
    source: string;
    subject: string;
    /** When it happened: UTC with milliseconds. */
    time: string;
    datacontenttype: 'application/json';
    organizationid: string;
    /** The id that chains everything one cause led to (contract.md §1). */
    correlationid: string;
    /** The event that led to this one. */
    causationid?: string;
    data: EventData<K>;
  };
}[T];

/**
 * The Kafka header with the event's type, as the Kafka binding of CloudEvents names it: who is not interested in the
 * type need not read the value. Records of older publishers are without it.
 */
export const TYPE_HEADER = 'ce_type';

/** The envelope without its data. */
export const envelopeSchema = z.object({
  specversion: z.literal('1.0'),
  id,
  type: z.string().min(1),
  source: z.string().min(1),
  subject: z.string().min(1),
  time: instant,
  datacontenttype: z.literal('application/json'),
  organizationid: id,
  correlationid: id,
  causationid: id.optional(),
});

/** A message that is no domain event, or whose data is not what its type promises. It can never be processed. */
export class InvalidDomainEvent extends Error {
  constructor(
    /** The type as far as it could be read. */
    readonly type: string | undefined,
    detail: string,
    /** The organization as far as it could be read: whoever sets the message aside keeps it there. */
    readonly organizationId?: string,
  ) {
    super(detail);
    this.name = 'InvalidDomainEvent';
  }
}

/** A message that its topic's module never wrote: its type or its source is another's. Nobody obeys it. */
export class ForeignEvent extends InvalidDomainEvent {
  constructor(type: string, detail: string, organizationId?: string) {
    super(type, `${type} ${detail}`, organizationId);
    this.name = 'ForeignEvent';
  }
}

/** A record that carries no proof of having been written by one of its topic's modules. Nobody obeys it. */
export class UnprovenEvent extends InvalidDomainEvent {
  constructor(detail: string, event?: Pick<DomainEvent, 'type' | 'organizationid'>) {
    super(event?.type, detail, event?.organizationid.toLowerCase());
    this.name = 'UnprovenEvent';
  }

  /** The same of the event that the record holds, as far as one can believe it. */
  of(event: Pick<DomainEvent, 'type' | 'organizationid'>): UnprovenEvent {
    return new UnprovenEvent(this.message, event);
  }
}

/** A well-formed event of a type this build does not know: published by a newer version of a module. */
export class UnknownEventType extends Error {
  constructor(readonly type: string) {
    super(`no event ${type} is known here`);
    this.name = 'UnknownEventType';
  }
}

/**
 * What callers send is nested 32 levels deep at most, and an event puts a few around it. Writing what is nested by
 * thousands overflows the stack of whoever keeps or passes it on, PostgreSQL among them.
 */
const MOST_LEVELS = 100;

/** The `source` attribute of a module's events. */
export function sourceOf(type: string): string {
  return `urn:customer-platform:${publisherOf(type)}`;
}

/**
 * Reads one message of a topic `<module>.domain-events`. Fields that a newer publisher added are kept. Of a type that
 * is not `wanted` it gives undefined, and spends no time on checking it.
 * @throws ForeignEvent when its type or its source is not that of the topic's module
 * @throws InvalidDomainEvent when the text is not JSON, not an envelope, or carries other data than its type promises
 * @throws UnknownEventType when the envelope is right and its type is not known here
 */
export function parseDomainEvent(topic: string, text: string): DomainEvent;
export function parseDomainEvent(
  topic: string,
  text: string,
  wanted: ReadonlySet<EventType>,
): DomainEvent | undefined;
export function parseDomainEvent(
  topic: string,
  text: string,
  wanted?: ReadonlySet<EventType>,
): DomainEvent | undefined {
  const value = readJson(text);
  const type = textIn(value, 'type');
  if (type !== undefined && !isOfTopic(type, topic))
    throw new ForeignEvent(type, `is no event of ${topic}`, organizationIn(value));
  if (wanted && type !== undefined && isEventType(type) && !wanted.has(type)) return undefined;
  checkEvent(value);
  if (value.source !== sourceOf(value.type))
    throw new ForeignEvent(value.type, 'says that its source is another module', organizationIn(value));
  return value;
}

/**
 * Refuses what is no domain event: of the reader's text, and of what is about to be published, so that nothing is ever
 * published that cannot be read.
 * @throws InvalidDomainEvent naming the fields at fault, never their values
 * @throws UnknownEventType when the envelope is right and its type is not known here
 */
export function checkEvent(value: unknown): asserts value is DomainEvent {
  const envelope = envelopeSchema.safeParse(value);
  if (!envelope.success) throw refused(value, describe(envelope.error, ''));
  const { type } = envelope.data;
  if (!isEventType(type)) throw new UnknownEventType(type);
  if (isDeeper(value, MOST_LEVELS))
    throw refused(value, `${type}: nested more than ${MOST_LEVELS} levels deep`);
  const data = (EVENTS[type].schema as z.ZodObject).safeParse((value as { data?: unknown }).data);
  if (!data.success) throw refused(value, `${type}: ${describe(data.error, 'data')}`);
}

/** Whether a value has more levels than that: looks no further down. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) if (isDeeper(member, levels - 1)) return true;
  return false;
}

function refused(value: unknown, detail: string): InvalidDomainEvent {
  return new InvalidDomainEvent(textIn(value, 'type'), detail, organizationIn(value));
}

function organizationIn(value: unknown): string | undefined {
  return id.safeParse(textIn(value, 'organizationid')).data?.toLowerCase();
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may hold personal data.
    throw new InvalidDomainEvent(undefined, 'not JSON');
  }
}

function textIn(value: unknown, name: 'type' | 'organizationid'): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const text = (value as Record<string, unknown>)[name];
  return typeof text === 'string' ? text : undefined;
}

function describe(error: z.ZodError, root: string): string {
  return error.issues
    .map((issue) => `${[root, ...issue.path.map(String)].filter(Boolean).join('.') || 'event'} ${issue.code}`)
    .join(', ');
}
