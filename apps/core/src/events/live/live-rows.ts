import type { Transaction } from '@customer-platform/database';
import { serverSentText } from '@customer-platform/http';
import { LETTER_COLUMNS, toDeadLetterDto, type DeadLetterRow } from '../../dead-letters/dead-letter.dto.js';
import { toEventDto, type EventRow } from '../event.dto.js';
import { beginningOf, comparePositions, positionText, type Position } from './live-position.js';

/**
 * Up to here everything is there: whatever is still to be committed began later. In a statement before that which reads.
 * The clock is that of the beginning of the own transaction, read before anybody is looked at: by a later one whoever
 * began between the two would be passed over. A transaction is seen here a moment after the time it gives itself: half
 * a second is left for it. One that has gone on for longer than any of ours should is not waited for, but named: whatever it
 * stored comes too late to be told. Also one that has not stored anything yet, for it may at its very end.
 */
const HORIZON = `
  SELECT floor(extract(epoch FROM least(min(xact_start) FILTER (WHERE NOT late), now() - interval '500 milliseconds'))
               * 1000)::float8 AS before,
         coalesce(array_agg(pid || ' ' || extract(epoch FROM xact_start)) FILTER (WHERE late), '{}') AS late
    FROM (SELECT pid, xact_start, xact_start <= now() - $1::float8 * interval '1 millisecond' AS late
            FROM pg_stat_activity
           WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
             AND xact_start IS NOT NULL) AS open`;

const EVENTS = `
  SELECT organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at, payload,
         warnings, source, created_at
    FROM events
   WHERE organization_id = ANY($1::uuid[]) AND created_at >= $2 AND created_at < $4 AND (created_at, id) > ($2, $3::uuid)
   ORDER BY created_at, id LIMIT $5`;

const LETTERS = `
  SELECT organization_id, type, ${LETTER_COLUMNS} FROM dead_letters
   WHERE organization_id = ANY($1::uuid[]) AND last_failed_at >= $2 AND last_failed_at < $4
     AND (last_failed_at, id) > ($2, $3::uuid)
   ORDER BY last_failed_at, id LIMIT $5`;

/** What a stream tells, of either kind. */
export interface LiveItem {
  readonly organizationId: string;
  readonly position: Position;
  readonly event: string | null;
  readonly externalId: string | null;
  readonly contactId: string | null;
  /**
   * As it stands in a stream, made once for all who are told the same, and not before; a dead letter is whole for who
   * reads jobs alone. `late` marks its position.
   */
  readonly text: (whole: boolean, late: boolean) => string;
}

/** What was read, and how far: all up to there, and nothing from there on. */
export interface Stretch {
  readonly items: readonly LiveItem[];
  readonly until: Position;
  /** Whether there may be more already. */
  readonly more: boolean;
  /** How long a time the next read should be of. */
  readonly spanMs: number;
}

/** What is to be read: after a position and before an instant, of so long a time and so many items at most. */
interface Wanted {
  readonly after: Position;
  readonly before: number;
  readonly spanMs: number;
  readonly most: number;
}

/** A statement sorts what is of its time: a short one where much was stored. */
export const FIRST_SPAN_MS = 2_000;
const SHORTEST_SPAN_MS = 250;
const LONGEST_SPAN_MS = 60_000;

/** How far can be read. */
export interface Horizon {
  /** The instant before which everything is there, but for what is late; in milliseconds by the database's clock. */
  readonly before: number;
  /** The open transactions that are not waited for, each by a name of its own. */
  readonly late: readonly string[];
}

/** How far can be read now, if a transaction is waited for so long. */
export async function horizon(tx: Transaction, waitedForMs: number): Promise<Horizon> {
  const [row] = await tx.query<Horizon>(HORIZON, [waitedForMs]);
  return row ?? { before: 0, late: [] };
}

/** What organizations stored, in the order of its positions. */
export async function readLive(
  tx: Transaction,
  organizationIds: readonly string[],
  { after, before, spanMs, most }: Wanted,
): Promise<Stretch> {
  const to = Math.min(before, after.at + spanMs);
  const values = [organizationIds, new Date(after.at), after.id, new Date(to), most];
  const events = await tx.query<EventRow & { organization_id: string }>(EVENTS, values);
  const letters = await tx.query<DeadLetterRow & { organization_id: string }>(LETTERS, values);
  const all = [...events.map(ofEvent), ...letters.map(ofLetter)].sort((one, other) =>
    comparePositions(one.position, other.position),
  );
  // Of either kind only the first were read: beyond them the other's order is not known.
  const items = events.length === most || letters.length === most ? all.slice(0, most) : all;
  const last = items.at(-1);
  if (items.length >= most && last)
    return { items, until: last.position, more: true, spanMs: Math.max(SHORTEST_SPAN_MS, spanMs / 2) };
  return {
    items,
    until: beginningOf(to),
    more: to < before,
    spanMs: Math.min(LONGEST_SPAN_MS, spanMs * 2),
  };
}

function ofEvent({
  organization_id: organizationId,
  ...row
}: EventRow & { organization_id: string }): LiveItem {
  const position = { at: row.created_at.getTime(), id: row.id };
  const [marked, unmarked] = textsOf('recorded', position, () => JSON.stringify(toEventDto(row)));
  return {
    organizationId,
    position,
    event: row.event,
    externalId: row.external_id,
    contactId: row.contact_id,
    text: (_whole, late) => (late ? marked() : unmarked()),
  };
}

function ofLetter(row: DeadLetterRow & { organization_id: string }): LiveItem {
  const { event_id, code } = row;
  const position = { at: row.last_failed_at.getTime(), id: row.id };
  const whole = textsOf('dead_lettered', position, () => JSON.stringify(toDeadLetterDto(row)));
  const part = textsOf('dead_lettered', position, () => JSON.stringify({ event_id, code }));
  return {
    organizationId: row.organization_id,
    position,
    event: nameIn(row.payload),
    externalId: row.external_id,
    contactId: row.contact_id,
    text: (sees, late) => {
      const [marked, unmarked] = sees ? whole : part;
      return late ? marked() : unmarked();
    },
  };
}

/** With a position that is marked, and with one that is not. */
function textsOf(
  event: 'recorded' | 'dead_lettered',
  position: Position,
  json: () => string,
): readonly [marked: () => string, unmarked: () => string] {
  const data = once(json);
  const text = (late: boolean) => () =>
    serverSentText({ id: positionText({ ...position, late }), event, data: data() });
  return [once(text(true)), once(text(false))];
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}

/** The event's name, which a dead letter has in its payload alone; that may be anything. */
function nameIn(payload: Buffer | null): string | null {
  try {
    const sent = JSON.parse(payload?.toString('utf8') ?? 'null') as { event?: unknown } | null;
    return typeof sent?.event === 'string' ? sent.event : null;
  } catch {
    return null;
  }
}
