import type { IncomingMessage } from 'node:http';
import { isUuid } from '../json/uuids.js';
import type { ListDefinition, ListQuery } from './list-definition.js';

/**
 * The header by which crm asks a module for all that it has for a timeline at once: which parts, from where on, and
 * which members of their items crm looks into. A module that does not know it answers the list of the path, as ever.
 */
export const TIMELINE_HEADER = 'x-timeline-parts';

/** The type of an answer that says all parts: one that is not of it is the list of the path. */
export const TIMELINE_TYPE = 'application/vnd.customer-platform.timeline';

/** A place in a part: what happened before it, or at the same time with a smaller id, is asked for. */
export interface TimelinePosition {
  /** UTC with milliseconds. */
  readonly occurredAt: string;
  readonly id: string;
}

/** A request of one part. */
export interface AskedPart {
  /** Absent: from the newest on. */
  readonly after?: TimelinePosition;
  /** Members of items that are told beside them, so that an item need not be read to be placed. */
  readonly fields: readonly string[];
}

/** A request of a module: for the newest `limit` items of a contact, of all these parts together. */
export interface AskedTimeline {
  readonly contactId: string;
  /** 1 to 200. */
  readonly limit: number;
  readonly parts: Readonly<Record<string, AskedPart>>;
}

/** Items of a part as its module shows them, newest first, or the status that its own list would have answered. */
export type TimelinePart =
  | {
      readonly status: 200;
      readonly items: readonly object[];
      /** The module holds more after the last item. */
      readonly more: boolean;
      /** Some of what happened at this instant or before it has been removed. */
      readonly removedUntil?: string | undefined;
    }
  | { readonly status: 307 | 403 | 404 };

/** A part as it was told. */
export type ToldPart =
  | {
      readonly status: 200;
      readonly items: readonly ToldItem[];
      readonly more: boolean;
      readonly removedUntil?: string;
    }
  | { readonly status: number };

/** An item that need not be read. */
export interface ToldItem {
  /** The fields that were asked for. */
  readonly head: Readonly<Record<string, unknown>>;
  /** The whole item, as JSON. */
  readonly text: string;
}

/** The value of the header. */
export function timelineHeader(parts: AskedTimeline['parts']): string {
  const values = Object.entries(parts).map(([type, { after, fields }]) => [
    type,
    { after: after ? [after.occurredAt, after.id] : null, fields },
  ]);
  return JSON.stringify(Object.fromEntries(values));
}

const MOST_ITEMS = 200;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const FIELD = /^[a-z_]{1,40}$/;
const MOST_FIELDS = 10;
/** Nothing else stands in the query: what narrows the list is for the list itself. */
const QUERY =
  /^contact_id=(?<contactId>[0-9a-f-]{36})&sort=-occurred_at&limit=(?<limit>\d{1,3})(?:&before_occurred_at=[^&]*&before_id=[^&]*)?$/;

/**
 * Reads the request that crm sends to `path`. Undefined for any other: it is for the list of the path. So is one that is
 * traced, of which the list makes a span.
 * @param types the parts that the module has
 */
export function readAskedTimeline(
  { method, url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  path: string,
  types: ReadonlySet<string>,
): AskedTimeline | undefined {
  const header = headers[TIMELINE_HEADER];
  if (typeof header !== 'string' || method !== 'GET' || headers.traceparent !== undefined) return undefined;
  if (!url.startsWith(path) || url[path.length] !== '?') return undefined;
  const { contactId = '', limit = '' } = QUERY.exec(url.slice(path.length + 1))?.groups ?? {};
  const most = Number(limit);
  if (!isUuid(contactId) || !(most >= 1 && most <= MOST_ITEMS)) return undefined;
  const parts = readParts(header, types);
  return parts && { contactId, limit: most, parts };
}

function readParts(header: string, types: ReadonlySet<string>): AskedTimeline['parts'] | undefined {
  const parts: Record<string, AskedPart> = {};
  let given: unknown;
  try {
    given = JSON.parse(header);
  } catch {
    return undefined;
  }
  if (!isObject(given)) return undefined;
  for (const [type, value] of Object.entries(given)) {
    const part = types.has(type) && isObject(value) ? readPart(value) : undefined;
    if (!part) return undefined;
    parts[type] = part;
  }
  return Object.keys(parts).length > 0 ? parts : undefined;
}

function readPart({ after, fields }: Record<string, unknown>): AskedPart | undefined {
  if (!Array.isArray(fields) || fields.length > MOST_FIELDS) return undefined;
  const names = fields.filter((name) => typeof name === 'string' && FIELD.test(name)) as string[];
  if (names.length < fields.length) return undefined;
  if (after === null) return { fields: names };
  if (!Array.isArray(after)) return undefined;
  const [occurredAt, id] = after as unknown[];
  const isPlace =
    typeof occurredAt === 'string' && isInstant(occurredAt) && typeof id === 'string' && isUuid(id);
  return isPlace ? { after: { occurredAt, id }, fields: names } : undefined;
}

function isInstant(text: string): boolean {
  return INSTANT.test(text) && Number.isFinite(Date.parse(text));
}

/**
 * The answer: a line about all parts, then each item on a line of its own, which whoever passes it on need not read.
 * JSON has no line break of its own.
 */
export function writeTimelineParts(
  asked: AskedTimeline,
  parts: Readonly<Record<string, TimelinePart>>,
): string {
  const lines: string[] = [];
  const told = Object.entries(parts).map(([type, part]) => {
    if (part.status !== 200) return [type, part];
    const { items, more, removedUntil } = part;
    const fields = asked.parts[type]?.fields ?? [];
    for (const item of items) lines.push(JSON.stringify(item));
    const heads = items.map((item) => fields.map((name) => (item as Record<string, unknown>)[name] ?? null));
    return [
      type,
      { status: 200, fields, heads, more, ...(removedUntil === undefined ? {} : { removedUntil }) },
    ];
  });
  return [JSON.stringify(Object.fromEntries(told)), ...lines].join('\n');
}

/** @throws TypeError for what is no such answer */
export function readTimelineParts(text: string): ReadonlyMap<string, ToldPart> {
  const [first = '', ...lines] = text.split('\n');
  let next = 0;
  const parts = new Map<string, ToldPart>();
  for (const [type, part] of Object.entries(objectOf(parse(first)))) {
    const { status, fields, heads, more, removedUntil } = objectOf(part);
    if (typeof status !== 'number') throw new TypeError('a part has no status');
    if (status !== 200) {
      parts.set(type, { status });
      continue;
    }
    if (!Array.isArray(fields) || !Array.isArray(heads)) throw new TypeError('a part has no heads');
    const items = (heads as unknown[]).map((head): ToldItem => {
      const line = lines[next];
      next += 1;
      if (!Array.isArray(head) || !line?.startsWith('{') || !line.endsWith('}'))
        throw new TypeError('an item is missing');
      return {
        head: Object.fromEntries(fields.map((name, at) => [String(name), head[at] as unknown])),
        text: line,
      };
    });
    const gap = typeof removedUntil === 'string' ? { removedUntil } : {};
    parts.set(type, { status: 200, items, more: more === true, ...gap });
  }
  if (next !== lines.length) throw new TypeError('there are items of no part');
  return parts;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which is a person's data and would end up in the log.
    throw new TypeError('the answer is no JSON');
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new TypeError('the answer is no object');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A position before which nothing comes: that of a part from its newest on. */
export const TIMELINE_START: TimelinePosition = {
  occurredAt: 'infinity',
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/** The same of one part as its list is asked for it: of a contact, by a field of its definition. */
export function listOfPart(asked: AskedTimeline, part: AskedPart, definition: ListDefinition): ListQuery {
  const column = definition.timelineSource?.occurredAt ?? '';
  const { contactId: value } = asked;
  return {
    limit: asked.limit,
    filters: [{ field: 'contact_id', op: 'eq', column: 'contact_id', type: 'uuid', value, values: [value] }],
    sort: [
      { field: 'occurred_at', column, type: 'time', direction: 'desc' },
      { field: 'id', column: 'id', type: 'uuid', direction: 'desc' },
    ],
    visibility: 'live',
    parameters: {},
    ...(part.after ? { before: { ...part.after, column } } : {}),
    // Nobody goes on by it: that there is more is all that is asked.
    cursorFor: () => 'more',
  };
}

/**
 * Counts those of each part that are among the newest `limit` of all, each part in the order of the timeline: the others
 * come on a later page.
 */
export function newestOfParts<Row extends { readonly id: string }>(
  parts: readonly (readonly Row[])[],
  timeOf: (row: Row) => number,
  limit: number,
): number[] {
  const taken = parts.map(() => 0);
  for (let count = 0; count < limit; count += 1) {
    let newest: { readonly part: number; readonly time: number; readonly id: string } | undefined;
    for (const [part, rows] of parts.entries()) {
      const row = rows[taken[part] ?? 0];
      if (!row) continue;
      const time = timeOf(row);
      if (!newest || time > newest.time || (time === newest.time && row.id > newest.id))
        newest = { part, time, id: row.id };
    }
    if (!newest) break;
    taken[newest.part] = (taken[newest.part] ?? 0) + 1;
  }
  return taken;
}
