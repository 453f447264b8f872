import type { Transaction } from '@customer-platform/database';
import { identifierForms } from '@customer-platform/http';
import type { EventKind } from '../../vocabulary/events/event-schemas.js';
import { KEY_CONFLICT } from '../../vocabulary/events/work-item.js';
import type { Identifier } from '../../blocklist/erased-identifiers.js';
import type { SoughtPerson } from './sought-person.js';

/** Letters that are read through at once, of which each may be as large as an event. */
const READ_AT_ONCE = 200;

/**
 * Letters that may be of anybody: what was no event has no external id, and an identify may name somebody else. What came
 * second under a key of the person's event may be another's.
 */
const LETTERS = `
  SELECT id, type, payload,
         contact_id = ANY($3::uuid[]) OR external_id = ANY($4::text[])
           OR code <> '${KEY_CONFLICT}' AND EXISTS (
                SELECT FROM events AS event
                 WHERE event.organization_id = $1 AND event.id = letter.event_id AND event.contact_id = ANY($3::uuid[]))
           AS "isNoted"
    FROM dead_letters AS letter
   WHERE organization_id = $1 AND ($2::uuid IS NULL OR id > $2)
     AND (payload IS NOT NULL OR contact_id = ANY($3::uuid[]) OR external_id = ANY($4::text[]))
   ORDER BY id LIMIT ${READ_AT_ONCE}`;

interface LetterRow {
  id: string;
  type: EventKind;
  payload: Buffer | null;
  isNoted: boolean | null;
}

/** Whose letters are sought. */
interface Whose {
  readonly contactIds: readonly string[];
  readonly identifiers: readonly Identifier[];
  readonly person: SoughtPerson;
}

/**
 * The dead letters of a person, for the erasure and for the archive alike: by what is noted of them, and by what their
 * payload says. A piece of the organization's letters after the id `after`.
 * @returns their ids in order, and up to where was read; without `next` there are no more
 */
export async function deadLettersOf(
  tx: Transaction,
  { contactIds, identifiers, person }: Whose,
  after: string | null,
): Promise<{ ids: string[]; next?: string }> {
  const externalIds = identifiers.flatMap(({ type, normal }) =>
    type === 'external_id' ? identifierForms(normal) : [],
  );
  const rows = await tx.query<LetterRow>(LETTERS, [tx.organizationId, after, contactIds, externalIds]);
  const ids = rows
    .filter(
      ({ type, payload, isNoted }) =>
        isNoted === true || (payload !== null && person.isInLetter(type, payload)),
    )
    .map(({ id }) => id);
  const last = rows.at(-1);
  return last && rows.length === READ_AT_ONCE ? { ids, next: last.id } : { ids };
}
