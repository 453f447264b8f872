import { Problem } from '@customer-platform/problem-json';
import { Database } from '../database.js';
import type { Transaction } from '../transaction.js';
import {
  subjectStatements,
  type SubjectRow,
  type SubjectStatements,
  type SubjectTable,
} from './subject-table.js';

/** Rows of one answer. */
const ROWS_AT_ONCE = 500;
/** UTF-8 of the rows of one answer, beyond the first row. */
const BYTES_AT_ONCE = 4 * 1024 * 1024;
/** Contacts and tables without a row that are gone through in one transaction. */
const STATEMENTS_AT_ONCE = 100;

/** Up to where the rows of a person were given; an empty `place` is the beginning of the contact's rows. */
export interface SubjectPlace {
  readonly resource: string;
  readonly contact_id: string;
  readonly place: readonly string[];
}

/** Whose rows are asked for: a person's contact and all that were merged into it. */
export interface SubjectQuestion {
  readonly organizationId: string;
  /**
   * In the same order on every page, who was merged before whom they were merged into: a module may hear of a merge while
   * it is asked, and moves rows that way.
   */
  readonly contactIds: readonly string[];
  /** Only what the person gave. */
  readonly portable: boolean;
  readonly after?: SubjectPlace | undefined;
}

/** Some rows of one resource, as JSON texts; `next` is null at the end of all. */
export interface SubjectPage {
  readonly resource: string | null;
  readonly rows: readonly string[];
  readonly next: SubjectPlace | null;
}

interface Read {
  readonly table: SubjectTable;
  readonly statements: SubjectStatements;
}

/** What this module holds of a person, in pages that fit in memory, whoever many rows there are. */
export class SubjectRows {
  private readonly reads: readonly Read[];

  /**
   * @param unsettled trusted SQL that has a row while rows of one of the contacts `$2::uuid[]` of the organization `$1` may
   * stand under another; meanwhile nothing is given, lest somebody has rows of somebody else
   */
  constructor(
    private readonly database: Database,
    tables: readonly SubjectTable[],
    private readonly unsettled?: string,
  ) {
    this.reads = tables.map((table) => ({ table, statements: subjectStatements(table) }));
  }

  /**
   * The rows after a place, of the contacts in the order given. Each page is a transaction of its own: what is written
   * meanwhile may be in it or not, and what moves from one contact to a later one is in it at least once.
   * @throws Problem `dependency_unavailable` while rows are on their way to another contact
   */
  async page({ organizationId, contactIds, portable, after }: SubjectQuestion): Promise<SubjectPage> {
    const reads = this.reads.filter(({ table }) => !portable || table.portable === true);
    const contacts = [...new Set(contactIds)];
    const places = { reads, contacts };
    return this.database.inOrganization({ organizationId }, async (tx) => {
      await this.demandSettled(tx, contacts);
      let at = after ?? startOf(places);
      for (let asked = 0; at !== null && asked < STATEMENTS_AT_ONCE; asked += 1) {
        const read = reads.find(({ table }) => table.resource === at?.resource);
        const rows = read ? await rowsOf(tx, read.statements, at) : [];
        const following: SubjectPlace | null = followingOf(places, at);
        if (rows.length > 0) return pageOf(at, rows, following);
        at = following;
      }
      return { resource: null, rows: [], next: at };
    });
  }

  private async demandSettled(tx: Transaction, contacts: readonly string[]): Promise<void> {
    if (this.unsettled === undefined) return;
    const [found] = await tx.query(this.unsettled, [tx.organizationId, contacts]);
    if (!found) return;
    const detail = 'Rows of this contact are on their way to another; try again shortly.';
    throw new Problem('dependency_unavailable', { detail });
  }
}

interface Places {
  readonly reads: readonly Read[];
  readonly contacts: readonly string[];
}

function rowsOf(
  tx: Transaction,
  { first, after }: SubjectStatements,
  { contact_id: contactId, place }: SubjectPlace,
): Promise<SubjectRow[]> {
  const isFirst = place.length === 0;
  const parameters = [tx.organizationId, contactId, ROWS_AT_ONCE, ...(isFirst ? [] : [place])];
  return tx.query<SubjectRow>(isFirst ? first : after, parameters);
}

function pageOf(at: SubjectPlace, rows: readonly SubjectRow[], following: SubjectPlace | null): SubjectPage {
  let bytes = 0;
  const fitting = rows.filter(({ row }, index) => {
    bytes += Buffer.byteLength(row);
    return index === 0 || bytes <= BYTES_AT_ONCE;
  });
  const isAll = fitting.length === rows.length && rows.length < ROWS_AT_ONCE;
  const last = fitting.at(-1)?.place ?? [];
  return {
    resource: at.resource,
    rows: fitting.map(({ row }) => row),
    next: isAll ? following : { ...at, place: last },
  };
}

function startOf({ reads, contacts }: Places): SubjectPlace | null {
  const [read] = reads;
  const [contact] = contacts;
  if (read === undefined || contact === undefined) return null;
  return { resource: read.table.resource, contact_id: contact, place: [] };
}

/** The next contact of the same table, else the first of the next table. */
function followingOf({ reads, contacts }: Places, at: SubjectPlace): SubjectPlace | null {
  const contact = contacts[contacts.indexOf(at.contact_id) + 1];
  if (contact !== undefined) return { resource: at.resource, contact_id: contact, place: [] };
  const table = reads[reads.findIndex((read) => read.table.resource === at.resource) + 1]?.table;
  const [first] = contacts;
  if (table === undefined || first === undefined) return null;
  return { resource: table.resource, contact_id: first, place: [] };
}
