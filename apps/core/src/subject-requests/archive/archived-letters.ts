import type { Database, SubjectPage, SubjectPlace, SubjectQuestion } from '@customer-platform/database';
import { deadLettersOf } from '../erasure/dead-letters-of-person.js';
import { identifiersOf } from '../erasure/person.js';
import { SoughtPerson } from '../erasure/sought-person.js';
import { LETTER_COLUMNS, LETTERS } from './subject-tables.js';

/** UTF-8 of the rows of one page, beyond the first row. */
const BYTES_AT_ONCE = 4 * 1024 * 1024;

const READ = `
  SELECT own.id, row_to_json(given.*)::text AS row FROM dead_letters AS own, LATERAL (SELECT ${LETTER_COLUMNS}) AS given
   WHERE own.organization_id = $1 AND own.id = ANY($2::uuid[]) ORDER BY own.id`;

/** The dead letters that an archive holds: the same that an erasure would close. */
export class ArchivedLetters {
  constructor(private readonly database: Database) {}

  /** Where they begin. */
  startOf({ contactIds }: SubjectQuestion): SubjectPlace | null {
    const [contact] = contactIds;
    return contact === undefined ? null : { resource: LETTERS.resource, contact_id: contact, place: [] };
  }

  /** Whether the question goes on among them. */
  isAt({ after }: SubjectQuestion): boolean {
    return after?.resource === LETTERS.resource;
  }

  /** Those of a piece of the organization's letters, after the place of the question; there may be none in it. */
  async page({ organizationId, contactIds, after }: SubjectQuestion): Promise<SubjectPage> {
    return this.database.inOrganization({ organizationId }, async (tx) => {
      const identifiers = await identifiersOf(tx, contactIds);
      const whose = { contactIds, identifiers, person: new SoughtPerson(contactIds, identifiers) };
      const { ids, next } = await deadLettersOf(tx, whose, after?.place[0] ?? null);
      const rows = await tx.query<{ id: string; row: string }>(READ, [tx.organizationId, ids]);
      let bytes = 0;
      const fitting = rows.filter(({ row }, index) => {
        bytes += Buffer.byteLength(row);
        return index === 0 || bytes <= BYTES_AT_ONCE;
      });
      const reached = fitting.length < rows.length ? fitting.at(-1)?.id : next;
      return {
        resource: LETTERS.resource,
        rows: fitting.map(({ row }) => row),
        next: after === undefined || reached === undefined ? null : { ...after, place: [reached] },
      };
    });
  }
}
