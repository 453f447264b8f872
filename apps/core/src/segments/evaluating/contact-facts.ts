import type { Transaction } from '@customer-platform/database';
import { asFields } from '../../vocabulary/contacts/contact-columns.js';
import { FIELD_NAMES } from '../../vocabulary/contacts/contact-field-table.js';
import type { Facts, Occurrences, Said } from '../../vocabulary/rules/evaluate.js';
import type { Asked, EventNode } from '../../vocabulary/rules/rule.js';
import { valueAt } from '../../vocabulary/rules/values.js';
import type { RuleField } from '../../vocabulary/rules/vocabulary.js';

/** Each by its key: the planner may take all contacts of an organization for fewer than it is asked for. */
const CONTACTS = `
  SELECT contact.* FROM unnest($2::uuid[]) AS asked (id) CROSS JOIN LATERAL (
    SELECT id, merged_into, deleted_at IS NULL AND merged_into IS NULL AND erased_at IS NULL AS active,
           ${asFields(FIELD_NAMES, 'contacts')}, source, created_at, CASE WHEN id = ANY($3::uuid[]) THEN attributes END AS attributes
      FROM contacts WHERE organization_id = $1 AND id = asked.id OFFSET 0) AS contact`;

/** The contacts that were merged into others, one into another: their history is that of the last survivor. */
const FAMILIES = `
  WITH RECURSIVE family AS (
    SELECT merged_into AS survivor, id FROM contacts WHERE organization_id = $1 AND merged_into = ANY($2::uuid[])
    UNION
    SELECT family.survivor, merged.id FROM contacts AS merged JOIN family ON merged.merged_into = family.id
     WHERE merged.organization_id = $1)
  SELECT survivor, id FROM family`;

const SAID = `
  SELECT said.* FROM unnest($2::uuid[]) AS holder (id) CROSS JOIN LATERAL (
    SELECT contact_id, purpose, channel, status, occurred_at, expires_at FROM consent_events
     WHERE organization_id = $1 AND contact_id = holder.id AND purpose = ANY($3::text[]) OFFSET 0) AS said`;

/** What is asked about which contact. */
type Questions = ReadonlyMap<string, ReadonlySet<Asked>>;

/** Contacts, each with the ids under which its history stands. */
type Families = ReadonlyMap<string, readonly string[]>;

/** Finds when events that are asked for happened. */
export type OccurrencesReader = (
  tx: Transaction,
  questions: Questions,
  families: Families,
  now: Date,
) => Promise<(contactId: string, node: EventNode) => Occurrences>;

/** A contact as rules see it; one that is not active is in no segment. */
export interface KnownContact {
  readonly active: boolean;
  readonly merged: boolean;
  readonly facts: Facts;
}

interface ContactRow extends Record<RuleField, unknown> {
  id: string;
  merged_into: string | null;
  active: boolean;
  created_at: Date;
  attributes: Record<string, unknown> | null;
}

interface SaidRow {
  contact_id: string;
  purpose: string;
  channel: string | null;
  status: string;
  occurred_at: Date;
  expires_at: Date | null;
}

/**
 * Reads what the asked rules ask of the contacts, and nothing else; a contact that is no more is left out. What happened to
 * those who are in no segment is not read unless `historyOf` says so.
 */
export async function readFacts(
  tx: Transaction,
  questions: Questions,
  now: Date,
  readOccurrences: OccurrencesReader,
  historyOf: 'active' | 'any' = 'active',
): Promise<Map<string, KnownContact>> {
  const rows = await readContacts(tx, questions);
  const read = rows.filter((row) => historyOf === 'any' || row.active).map(({ id }) => id);
  const families = await readFamilies(tx, read);
  const occurrences = await readOccurrences(tx, questions, families, now);
  const said = await readSaid(tx, questions, families);
  return new Map(
    rows.map((row) => {
      const facts: Facts = {
        attribute: (path) => attributeOf(row, path),
        said: (purpose) => said.get(`${row.id} ${purpose}`) ?? [],
        occurrences: (node) => occurrences(row.id, node),
      };
      return [row.id, { active: row.active, merged: row.merged_into !== null, facts }];
    }),
  );
}

function readContacts(tx: Transaction, questions: Questions): Promise<ContactRow[]> {
  const withAttributes = [...questions].flatMap(([id, segments]) =>
    [...segments].some(({ asksAttributes }) => asksAttributes) ? id : [],
  );
  return tx.query<ContactRow>(CONTACTS, [tx.organizationId, [...questions.keys()], withAttributes]);
}

function attributeOf(row: ContactRow, path: string): unknown {
  if (path.startsWith('attributes.')) return valueAt(row.attributes, path.slice('attributes.'.length));
  const value = row[path as RuleField];
  return value instanceof Date ? value.toISOString() : value;
}

/** The contacts, each with the ids under which its history stands. */
async function readFamilies(tx: Transaction, contactIds: readonly string[]): Promise<Map<string, string[]>> {
  const families = new Map(contactIds.map((id) => [id, [id]]));
  if (contactIds.length === 0) return families;
  const rows = await tx.query<{ survivor: string; id: string }>(FAMILIES, [tx.organizationId, contactIds]);
  for (const { survivor, id } of rows) families.get(survivor)?.push(id);
  return families;
}

async function readSaid(
  tx: Transaction,
  questions: Questions,
  families: Families,
): Promise<Map<string, Said[]>> {
  const purposes = new Set<string>();
  const holders = new Map<string, string>();
  for (const [contactId, family] of families) {
    const asked = [...(questions.get(contactId) ?? [])].flatMap((segment) => segment.purposes);
    if (asked.length === 0) continue;
    for (const purpose of asked) purposes.add(purpose);
    for (const id of family) holders.set(id, contactId);
  }
  if (holders.size === 0) return new Map();
  const rows = await tx.query<SaidRow>(SAID, [tx.organizationId, [...holders.keys()], [...purposes]]);
  const said = new Map<string, Said[]>();
  for (const { contact_id: id, purpose, channel, status, occurred_at, expires_at } of rows) {
    const key = `${holders.get(id) ?? id} ${purpose}`;
    const word = {
      channel,
      status,
      occurredAt: occurred_at.getTime(),
      expiresAt: expires_at?.getTime() ?? null,
    };
    said.set(key, [...(said.get(key) ?? []), word]);
  }
  return said;
}
