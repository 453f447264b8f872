import {
  readTimelineParts,
  TIMELINE_HEADER,
  TIMELINE_TYPE,
  timelineHeader,
  type AskedPart,
  type ToldPart,
} from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { eventually } from './eventually.js';
import type { TestApp } from './test-app.js';

/** A question of crm to a module, about a contact and for a caller. */
export interface TimelineQuestion {
  readonly organizationId: string;
  /** Those of the caller. */
  readonly permissions: readonly Permission[];
  readonly path: string;
  readonly contactId: string;
  readonly limit?: number;
  readonly parts: Readonly<Record<string, AskedPart>>;
  /** Comes behind the query that crm sends. */
  readonly more?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The module's answer: its parts with each item parsed, or else its body. */
export interface TimelineAnswer {
  readonly status: number;
  readonly correlationId: string | null;
  readonly parts?: Readonly<Record<string, ReadPart>>;
  readonly body?: unknown;
}

interface ReadPart {
  readonly status: number;
  readonly items?: readonly unknown[];
  readonly heads?: readonly unknown[];
  readonly more?: boolean;
  readonly removedUntil?: string | undefined;
}

/** Asks a module for all parts of a timeline at once, as crm does. */
export async function askTimeline(app: TestApp, question: TimelineQuestion): Promise<TimelineAnswer> {
  const { organizationId, permissions, path, contactId, limit = 50, parts, more = '', headers } = question;
  const key = app.registry.key({ organizationId, permissions });
  const url = `${app.url}${path}?contact_id=${contactId}&sort=-occurred_at&limit=${String(limit)}${more}`;
  return eventually(async () => {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${key}`, [TIMELINE_HEADER]: timelineHeader(parts), ...headers },
    });
    const { status } = response;
    expect(status).not.toBe(503);
    const text = await response.text();
    const correlationId = response.headers.get('x-correlation-id');
    if (response.headers.get('content-type') !== TIMELINE_TYPE)
      return { status, correlationId, body: JSON.parse(text) as unknown };
    const told = [...readTimelineParts(text)].map(([type, part]) => [type, readPart(part)] as const);
    return { status, correlationId, parts: Object.fromEntries(told) };
  });
}

function readPart(part: ToldPart): ReadPart {
  if (!('items' in part)) return part;
  const { status, items, more, removedUntil } = part;
  return {
    status,
    items: items.map(({ text }) => JSON.parse(text) as unknown),
    heads: items.map(({ head }) => head),
    more,
    ...(removedUntil === undefined ? {} : { removedUntil }),
  };
}
