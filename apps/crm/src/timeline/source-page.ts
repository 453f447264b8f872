import type { ToldPart } from '@customer-platform/http';
import type { Fragment, SourceItem } from './fragments.js';
import { compareInSource, type Placed, type Position } from './timeline-position.js';

/** An item of a fragment with its place in the timeline. */
export interface PlacedItem extends Placed {
  readonly fragment: Fragment;
  readonly correlationId: string | null;
  /** The item, as far as the timeline looks into it. */
  readonly head: SourceItem;
  /** The item as the source sent it: JSON. */
  readonly text: () => string;
}

/** A page of a fragment, newest first. */
export interface SourcePage {
  readonly items: readonly PlacedItem[];
  /** Whether the source holds more after the last item. */
  readonly more: boolean;
  /** Of what happened at this instant or before it the source has removed some. */
  readonly removedUntil?: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * Reads a source's answer. Its order is checked and not trusted: items out of order, or from before the position
 * that was asked for, would come twice in a walk, or never.
 * @throws TypeError when it is no page of a timeline source
 */
export function readSourcePage(fragment: Fragment, text: string, after: Position | undefined): SourcePage {
  const { data, page, gap } = object(parse(text));
  if (!Array.isArray(data)) throw new TypeError('the answer has no data');
  const items = data.map((value) => {
    const item = object(value);
    return place(fragment, item, () => JSON.stringify(item));
  });
  demandOrder(items, after);
  const more = items.length > 0 && object(page)['next_cursor'] !== null;
  const removedUntil = instantOf(gap);
  return { items, more, ...(removedUntil === undefined ? {} : { removedUntil }) };
}

/**
 * Reads what a source told of a part, of which no item has to be parsed. It is believed as little as a list. A part of
 * which nothing is told may have more: others of the source's were newer.
 * @throws TypeError when it is no page of a timeline source
 */
export function readToldPage(
  fragment: Fragment,
  { items: told, more, removedUntil: until }: Extract<ToldPart, { status: 200 }>,
  after: Position | undefined,
): SourcePage {
  const items = told.map(({ head, text }) => place(fragment, head, () => text));
  demandOrder(items, after);
  const removedUntil = until === undefined ? undefined : instantOf({ until });
  return { items, more, ...(removedUntil === undefined ? {} : { removedUntil }) };
}

function demandOrder(items: readonly PlacedItem[], after: Position | undefined): void {
  let before = after;
  for (const item of items) {
    if (before && compareInSource(before, item) >= 0) throw new TypeError('the answer is out of order');
    before = item;
  }
}

/** Until when a source says that it has removed something; not every source can. */
function instantOf(gap: unknown): string | undefined {
  if (gap === undefined || gap === null) return undefined;
  const { until } = object(gap);
  if (typeof until !== 'string' || !INSTANT.test(until)) throw new TypeError('the gap has no time');
  return until;
}

function place(fragment: Fragment, head: SourceItem, text: () => string): PlacedItem {
  const { id, correlation_id: correlationId = null } = head;
  const occurredAt = head[fragment.occurredAt];
  if (typeof id !== 'string' || !UUID.test(id)) throw new TypeError('an item has no id');
  if (typeof occurredAt !== 'string' || !INSTANT.test(occurredAt)) throw new TypeError('an item has no time');
  if (correlationId !== null && typeof correlationId !== 'string')
    throw new TypeError('an item has no correlation id');
  return { fragment, source: fragment.source, id, occurredAt, correlationId, head, text };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which is a person's data and would end up in the log.
    throw new TypeError('the answer is no JSON');
  }
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError('the answer is no object');
  return value as Readonly<Record<string, unknown>>;
}
