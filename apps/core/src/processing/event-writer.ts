import {
  newId,
  texts,
  timestamps,
  uuids,
  WriteConflict,
  type Transaction,
} from '@customer-platform/database';
import type { Warning } from '../vocabulary/contacts/contact-profile.js';
import type { IdentifyBody, TrackBody } from '../vocabulary/events/event-schemas.js';
import { within } from './chunk-contact.js';
import type { Effect } from './event-effects.js';
import type { Arrival, FailedItem } from '../vocabulary/events/work-item.js';

const INSERT_EVENTS = `
  INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
                      received_at, payload, identities, warnings, source, fingerprint, origin_id)
  SELECT organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at, payload::jsonb,
         identities::jsonb, warnings::jsonb, 'api', fingerprint, origin_id
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::text[],
                $8::timestamptz[], $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::uuid[], $14::uuid[])
      AS event (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at, payload,
                identities, warnings, fingerprint, origin_id)
   ORDER BY organization_id, id
  ON CONFLICT DO NOTHING
  RETURNING id`;

const INSERT_LETTERS = `
  INSERT INTO dead_letters (organization_id, id, event_id, type, stage, code, detail, attempts, payload, external_id,
                            contact_id, state, closed_reason, fingerprint, received_at, first_failed_at, last_failed_at,
                            remainder)
  SELECT organization_id, id, event_id, type, stage, code, detail, attempts, payload, external_id, contact_id,
         CASE WHEN closed_reason IS NULL THEN 'pending' ELSE 'closed' END, closed_reason, fingerprint, received_at,
         now(), now(), remainder::jsonb
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[],
                $9::bytea[], $10::text[], $11::text[], $12::uuid[], $13::timestamptz[], $14::uuid[], $15::text[])
      AS letter (organization_id, id, event_id, type, stage, code, detail, attempts, payload, external_id, closed_reason, fingerprint,
                 received_at, contact_id, remainder)
   ORDER BY organization_id, event_id
  ON CONFLICT DO NOTHING
  RETURNING id`;

const ADD_USAGE = `
  INSERT INTO usage_days AS day (organization_id, day, partition, consumed, stored, duplicates, dead_lettered,
                                 contacts_created)
  SELECT organization_id, day, partition, consumed, stored, duplicates, dead_lettered, contacts_created
    FROM unnest($1::uuid[], $2::date[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
      AS added (organization_id, day, partition, consumed, stored, duplicates, dead_lettered, contacts_created)
   ORDER BY organization_id, day, partition
  ON CONFLICT (organization_id, day, partition) DO UPDATE
    SET consumed = day.consumed + excluded.consumed, stored = day.stored + excluded.stored,
        duplicates = day.duplicates + excluded.duplicates,
        dead_lettered = day.dead_lettered + excluded.dead_lettered,
        contacts_created = day.contacts_created + excluded.contacts_created`;

/**
 * Stores the events on their contacts. `origins` names, by organization and external id, where a merge has taken the identity from: an
 * undo takes the event back with it.
 * @throws WriteConflict when another transaction stored one of them meanwhile, from another partition
 */
export async function writeEvents(
  tx: Transaction,
  effects: readonly Effect[],
  origins: ReadonlyMap<string, string | null>,
): Promise<void> {
  if (effects.length === 0) return;
  const of = <T>(read: (effect: Effect) => T): T[] => effects.map(read);
  const inserted = await tx.prepared(INSERT_EVENTS, [
    uuids(of(({ item }) => item.organizationId)),
    uuids(of(({ item }) => item.eventId)),
    texts(of(({ item }) => item.kind)),
    texts(of(({ item }) => (item.kind === 'track' ? (item.body as TrackBody).event : null))),
    texts(of(({ item }) => item.body.external_id)),
    uuids(of(({ contact }) => contact.id)),
    texts(of(({ item }) => item.body.idempotency_key)),
    timestamps(of(({ item }) => item.occurredAt)),
    timestamps(of(({ item }) => item.receivedAt)),
    texts(of(({ item }) => JSON.stringify(payloadOf(item.body)))),
    texts(of(({ item }) => identitiesOf(item.body))),
    texts(of(({ warnings }) => (warnings.length > 0 ? JSON.stringify(warnings) : null))),
    uuids(of(({ item }) => item.fingerprint)),
    uuids(of(({ item }) => origins.get(within(item.organizationId, item.body.external_id)) ?? null)),
  ]);
  if (inserted.length !== effects.length)
    throw new WriteConflict('An event was stored by another transaction meanwhile');
}

function payloadOf(body: TrackBody | IdentifyBody): Record<string, unknown> {
  return 'traits' in body ? body.traits : (body.properties ?? {});
}

function identitiesOf(body: TrackBody | IdentifyBody): string | null {
  return 'identities' in body ? JSON.stringify(body.identities) : null;
}

/**
 * Keeps the events that failed, byte by byte.
 * @throws WriteConflict when another transaction kept one of them meanwhile
 */
export async function writeLetters(tx: Transaction, items: readonly FailedItem[]): Promise<void> {
  if (items.length === 0) return;
  const of = <T>(read: (item: FailedItem) => T): T[] => items.map(read);
  const inserted = await tx.query(INSERT_LETTERS, [
    of(({ organizationId }) => organizationId),
    of(() => newId()),
    of(({ eventId }) => eventId),
    of(({ kind }) => kind),
    of(({ failure }) => failure.stage),
    of(({ failure }) => failure.code),
    of(({ failure }) => failure.detail.slice(0, 1_000)),
    of(({ failure }) => failure.attempts),
    // Of an erased person nothing is kept.
    of(({ raw }) => (raw.length === 0 ? null : raw)),
    of(({ externalId }) => externalId ?? null),
    of(({ failure }) => failure.closed ?? null),
    of(({ fingerprint }) => fingerprint),
    of(({ receivedAt }) => receivedAt),
    of(({ resumePoint }) => resumePoint?.contactId ?? null),
    of(({ resumePoint }) => (resumePoint ? JSON.stringify(resumePoint) : null)),
  ]);
  if (inserted.length !== items.length)
    throw new WriteConflict('A dead letter was kept by another transaction meanwhile');
}

const ADD_WARNINGS = `
  UPDATE events AS event
     SET warnings = coalesce(event.warnings, '[]') || (
           SELECT coalesce(jsonb_agg(warning), '[]') FROM jsonb_array_elements($3::jsonb) AS warning
            WHERE NOT coalesce(event.warnings, '[]') @> jsonb_build_array(warning))
   WHERE organization_id = $1 AND id = $2`;

/** Adds to the warnings of a stored event those that it does not have yet. */
export async function addWarnings(
  tx: Transaction,
  eventId: string,
  warnings: readonly Warning[],
): Promise<void> {
  if (warnings.length === 0) return;
  await tx.query(ADD_WARNINGS, [tx.organizationId, eventId, JSON.stringify(warnings)]);
}

/** What became of events: what is counted of them. */
interface Outcomes {
  readonly effects: readonly Effect[];
  readonly duplicates: readonly Arrival[];
  readonly dead: readonly Arrival[];
}

const COUNTERS = ['consumed', 'stored', 'duplicates', 'dead', 'contacts'] as const;
type Counter = (typeof COUNTERS)[number];
type Counts = Record<Counter, number> & Pick<Arrival, 'organizationId' | 'day' | 'partition'>;

/**
 * Counts what became of events, by organization, day of acceptance and partition. A replay moves its event from the dead
 * letters to what became of it.
 */
export async function countEvents(tx: Transaction, outcomes: Outcomes, isReplay: boolean): Promise<void> {
  const { effects, duplicates, dead } = outcomes;
  const counted = new Map<string, Counts>();
  const add = ({ organizationId, day, partition }: Arrival, counter: Counter, by = 1): void => {
    const key = within(organizationId, day, String(partition));
    const none = { consumed: 0, stored: 0, duplicates: 0, dead: 0, contacts: 0 };
    const counts = counted.get(key) ?? { organizationId, day, partition, ...none };
    counts[counter] += by;
    counted.set(key, counts);
  };
  const count = (arrival: Arrival, outcome: 'stored' | 'duplicates' | 'dead'): void => {
    if (isReplay) add(arrival, 'dead', -1);
    else add(arrival, 'consumed');
    add(arrival, outcome);
  };
  for (const { item, created } of effects) {
    count(item, 'stored');
    if (created) add(item, 'contacts');
  }
  for (const arrival of duplicates) count(arrival, 'duplicates');
  for (const item of dead) count(item, 'dead');
  if (counted.size === 0) return;
  const rows = [...counted.values()];
  await tx.prepared(ADD_USAGE, [
    rows.map(({ organizationId }) => organizationId),
    rows.map(({ day }) => day),
    rows.map(({ partition }) => partition),
    ...COUNTERS.map((counter) => rows.map((row) => row[counter])),
  ]);
}
