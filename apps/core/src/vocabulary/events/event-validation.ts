import { inspectJson, isLongerThan, parseInstant } from '@customer-platform/http';
import type { FieldErrors } from '@customer-platform/problem-json';
import { addSchemaErrors } from './schema-errors.js';
import {
  IDENTITIES_LIMIT,
  LONGEST_EXTERNAL_ID,
  LONGEST_IDENTITY,
  LONGEST_TIME,
  SHAPES,
  type EventKind,
  type IdentifyBody,
  type TrackBody,
} from './event-schemas.js';
import { isPlaceholder } from '../identities/placeholder-identifiers.js';

/** How far ahead of our clock an event may claim to have happened, for clocks that differ. */
const FUTURE_TOLERANCE_MS = 60 * 60 * 1000;

/** A body that was judged: what is wrong with it, or what it is. */
type Judged =
  { errors: FieldErrors } | { errors?: undefined; kind: EventKind; body: TrackBody | IdentifyBody };

/** Judges a body of `POST /v1/core/track` or `/identify`, whose text was `text`; all that is wrong is listed. */
export function judgeEvent(kind: EventKind, body: unknown, text: string, now: number): Judged {
  return judge(kind, SHAPES[kind](body), SHAPES[kind].errors, { body, text, now, level: 1 });
}

/** Judges an item of a batch, of the kind that its `type` says. Pointers are relative to the item. */
export function judgeItem(item: unknown, text: string, now: number): Judged {
  const kind = kindOf(item);
  const shape = kind === 'identify' ? SHAPES.identifyItem : SHAPES.trackItem;
  // The item of the list in the body: the third level of nesting.
  return judge(kind, shape(item), shape.errors, { body: item, text, now, level: 3 });
}

/** The kind of a batch item as far as it says so: whatever is not an identify is judged as a track. */
export function kindOf(item: unknown): EventKind {
  const named = typeof item === 'object' && item !== null && (item as { type?: unknown }).type === 'identify';
  return named ? 'identify' : 'track';
}

/** Whether it has the shape of an event, sent alone or as an item of a batch; what it means is not judged. */
export function isShaped(kind: EventKind, body: unknown): boolean {
  const item = kind === 'identify' ? SHAPES.identifyItem : SHAPES.trackItem;
  return SHAPES[kind](body) || item(body);
}

interface Subject {
  body: unknown;
  text: string;
  now: number;
  level: number;
}

function judge(
  kind: EventKind,
  wellFormed: boolean,
  refusals: Parameters<typeof addSchemaErrors>[0],
  subject: Subject,
): Judged {
  const errors = inspectJson(subject.body, subject.text, subject);
  if (!wellFormed) addSchemaErrors(refusals, errors);
  if (typeof subject.body === 'object' && subject.body !== null) {
    checkMeaning(subject.body as Record<string, unknown>, subject.now, errors);
  }
  if (errors.total > 0) return { errors };
  return { kind, body: subject.body as TrackBody | IdentifyBody };
}

function checkMeaning(body: Record<string, unknown>, now: number, errors: FieldErrors): void {
  const { external_id: externalId, occurred_at: occurredAt, identities } = body;
  if (typeof externalId === 'string')
    checkPlaceholder(externalId, LONGEST_EXTERNAL_ID, '/external_id', errors);
  if (typeof occurredAt === 'string' && occurredAt !== '' && occurredAt.length <= LONGEST_TIME) {
    checkOccurredAt(occurredAt, now, errors);
  }
  if (Array.isArray(identities) && identities.length <= IDENTITIES_LIMIT)
    identities.forEach((identity, index) => checkIdentity(identity, index, errors));
}

function checkIdentity(identity: unknown, index: number, errors: FieldErrors): void {
  const { value } = (typeof identity === 'object' && identity !== null ? identity : {}) as {
    value?: unknown;
  };
  if (typeof value === 'string')
    checkPlaceholder(value, LONGEST_IDENTITY, `/identities/${index}/value`, errors);
}

function checkPlaceholder(value: string, most: number, pointer: string, errors: FieldErrors): void {
  // What is empty or too long is refused for that, and not read.
  if (value === '' || isLongerThan(value, most) || !isPlaceholder(value)) return;
  const detail = 'This stands for "no identifier"; everyone without one would become the same contact.';
  errors.add({ pointer, code: 'placeholder_identifier', detail });
}

function checkOccurredAt(text: string, now: number, errors: FieldErrors): void {
  const pointer = '/occurred_at';
  const time = millisecondsOf(text);
  if (time === undefined) {
    const detail = 'This must be an ISO 8601 timestamp with a UTC offset, such as 2026-11-21T09:30:00.000Z.';
    errors.add({ pointer, code: 'invalid_format', detail });
    return;
  }
  if (time > now + FUTURE_TOLERANCE_MS) {
    const detail = 'This is more than one hour ahead of the clock of the service.';
    errors.add({ pointer, code: 'occurred_at_in_future', detail });
  }
}

/** What most callers send; up to the 28th every day exists, and `Date` reads it as it is. */
const USUAL =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?Z$/;

function millisecondsOf(text: string): number | undefined {
  if (USUAL.test(text)) return Date.parse(text);
  const instant = parseInstant(text);
  return instant === undefined ? undefined : Date.parse(instant);
}
