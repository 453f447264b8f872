import { pageOf, type Transaction } from '@customer-platform/database';
import { matchedPhone, type ListFilter, type ListQuery, type Page } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { IDENTITY_TYPE } from '../../vocabulary/events/event-schemas.js';
import { inEveryForm, withValues } from '../../vocabulary/identities/form-filters.js';
import { identityForms } from '../../vocabulary/identities/identity-value.js';
import type { NationalIdType } from '../../vocabulary/national-ids/national-id-types.js';
import { asFields } from '../../vocabulary/contacts/contact-columns.js';
import { FIELD_NAMES, type ByField } from '../../vocabulary/contacts/contact-field-table.js';
import { search, wordConditions, type Search } from './contact-search.js';
import { type ContactDto, FORMER_LAST_NAME_ORDER, LAST_NAME_BYTES } from './contact.dto.js';

const SHOWN = `${asFields(FIELD_NAMES, 'c')}, c.email_normal, c.national_id_type, c.national_id_masked,
  c.attributes, c.version, c.source, a.last_seen_at, c.created_at, c.updated_at, c.deleted_at`;

/** `id` is of the table whose index has the order, so that the whole sort key is read from that one index. */
const contacts = (id: string): string => `
  SELECT ${id} AS id, ${SHOWN}
    FROM contacts c
    JOIN contact_activity a ON a.organization_id = c.organization_id AND a.contact_id = c.id
   WHERE c.organization_id = $1 AND a.organization_id = $1 AND c.merged_into IS NULL AND c.erased_at IS NULL`;

const BY_CONTACT = contacts('c.id');
const BY_ACTIVITY = contacts('a.contact_id');

/** Who is in one of the segments; a semi-join, so that the order is still read from its index. */
const IN_SEGMENT = (place: string): string => `
     AND EXISTS (SELECT FROM segment_members AS member
                  WHERE member.organization_id = $1 AND member.contact_id = c.id AND member.left_at IS NULL
                    AND member.segment_id = ANY(${place}::uuid[]))`;

const owners = (which: string): string => `
  SELECT i.contact_id
    FROM unnest($2::text[], $3::text[]) AS wanted (type, normal_value)
    JOIN identities i
      ON i.organization_id = $1 AND i.type = wanted.type AND i.normal_value = wanted.normal_value
   WHERE i.yielded_at IS ${which}`;

/** Present and yielded identities are found by an index each; of both in one condition neither would serve. */
export const OWNERS = `${owners('NULL')} UNION ALL ${owners('NOT NULL')} AND $4`;

interface ContactListRow extends ByField<string | null> {
  id: string;
  email_normal?: string | null;
  national_id_type: NationalIdType | null;
  national_id_masked: string | null;
  attributes: Record<string, unknown>;
  version: number;
  source: string;
  last_seen_at: Date;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
}

/** One page of contacts; merged and erased ones are in no list. */
export async function pageOfContacts(tx: Transaction, query: ListQuery): Promise<Page<ContactDto>> {
  const inSegments = query.filters.filter(({ field }) => field === 'segment_id');
  const filters = query.filters.filter(({ field }) => field !== 'segment_id');
  const sort = query.sort.map((level) =>
    level.field === 'last_name' && !level.collation ? { ...level, column: FORMER_LAST_NAME_ORDER } : level,
  );
  const read = { ...query, sort, filters: await readFilters(tx, { ...query, filters }) };
  const found = await search(tx, query);
  const rows = query.sort[0]?.field === 'last_seen_at' ? BY_ACTIVITY : BY_CONTACT;
  const live = query.visibility === 'live' ? ' AND c.deleted_at IS NULL' : '';
  const members = inSegments.map((_, at) => IN_SEGMENT(`$${at + 2}`)).join('');
  const select = amongFound(rows + live + members, found, inSegments.length + 2);
  return pageOf<ContactListRow, ContactDto>(tx, select.sql, read, {
    parameters: [tx.organizationId, ...inSegments.map(({ values }) => values), ...select.parameters],
    map: toListedDto,
  });
}

/** The select of those that a search found, whose own parameters begin at `$<next>`. */
function amongFound(
  select: string,
  found: Search | undefined,
  next: number,
): { sql: string; parameters: readonly unknown[] } {
  if (!found) return { sql: select, parameters: [] };
  const { ids, bounds } = found;
  const sql = [select, ...wordConditions('c.id', next, bounds.length / 2)].join(' AND ');
  if (!ids) return { sql, parameters: bounds };
  // Each by its key: the planner may take a walk in the list's order for shorter, and walk to the end of it.
  const each = `SELECT row.* FROM unnest($${String(next + bounds.length)}::uuid[]) AS found (id)
    CROSS JOIN LATERAL (${sql} AND c.id = found.id OFFSET 0) AS row`;
  return { sql: each, parameters: [...bounds, ids] };
}

function toListedDto(row: ContactListRow): ContactDto {
  const { national_id_type: type, national_id_masked: masked, email_normal: _, ...shown } = row;
  const { last_seen_at, created_at, updated_at, deleted_at, attributes, version, source, ...fields } = shown;
  return {
    ...fields,
    national_id: type === null || masked === null ? null : { type, masked },
    attributes,
    version,
    source,
    last_seen_at: last_seen_at.toISOString(),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    deleted_at: deleted_at?.toISOString() ?? null,
  };
}

/** Filters in the forms in which values are stored and indexed. */
async function readFilters(tx: Transaction, query: ListQuery): Promise<ListFilter[]> {
  const filters: ListFilter[] = [];
  for (const filter of query.filters) {
    if (filter.op === 'is_null') filters.push(filter);
    else if (filter.field === 'identity') filters.push(await byIdentity(tx, filter, query.visibility));
    else filters.push(byField(filter));
  }
  return filters;
}

function byField(filter: ListFilter): ListFilter {
  switch (filter.field) {
    case 'email':
    case 'external_id':
      return inEveryForm(filter, filter.field);
    case 'phone':
      return withValues(filter, (value) => matchedPhone(value, null) ?? value);
    case 'country':
      return withValues(filter, (value) => value.toUpperCase());
    case 'last_name':
      // The index's own expression.
      return { ...filter, column: LAST_NAME_BYTES };
    default:
      return filter;
  }
}

async function byIdentity(
  tx: Transaction,
  filter: ListFilter,
  visibility: ListQuery['visibility'],
): Promise<ListFilter> {
  const wanted = filter.values.flatMap((value) => readIdentity(String(value)));
  const rows = await tx.query<{ contact_id: string }>(OWNERS, [
    tx.organizationId,
    wanted.map(({ type }) => type),
    wanted.map(({ normal }) => normal),
    visibility === 'any',
  ]);
  return { ...filter, op: 'in', type: 'uuid', column: 'id', values: rows.map((row) => row.contact_id) };
}

function readIdentity(text: string): { type: string; normal: string }[] {
  const at = text.indexOf(':');
  const type = text.slice(0, at);
  const value = text.slice(at + 1);
  if (at > 0 && value !== '' && IDENTITY_TYPE.test(type)) {
    const forms = identityForms(type, value, null);
    return (forms.length > 0 ? forms : [value]).map((normal) => ({ type, normal }));
  }
  const detail = '`identity` takes a type and a value, such as `anonymous_id:9f1c`.';
  throw Problem.validation([{ parameter: 'identity', code: 'invalid_filter', detail }]);
}
