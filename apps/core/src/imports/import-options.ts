import { cutEnds, FORBIDDEN_KEYS, pointerToken, type RequestContext } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { FieldErrors, Problem, type FieldError } from '@customer-platform/problem-json';
import { CONSENT_CHANNELS, isPurpose } from '../vocabulary/consents/consent.js';
import { FIELD_NAMES, type ContactField } from '../vocabulary/contacts/contact-field-table.js';
import { isNationalIdType, type NationalIdType } from '../vocabulary/national-ids/national-id-types.js';
import { MATCHES, type ImportOptionsDto } from './import-options.dto.js';

/** What all consents of a row share. */
const CONSENT_DETAILS = ['notice_version', 'method', 'occurred_at'] as const;

/** What a column fills. */
export type Target =
  | { readonly kind: 'field'; readonly field: ContactField }
  | { readonly kind: 'national_id'; readonly type: NationalIdType }
  | { readonly kind: 'attribute'; readonly key: string }
  | { readonly kind: 'consent'; readonly purpose: string; readonly channel: string | null }
  | { readonly kind: 'consent_detail'; readonly detail: (typeof CONSENT_DETAILS)[number] };

/** The options of an import, complete. */
export type ImportOptions = Required<ImportOptionsDto>;

/** Columns are looked through for each row. */
export const MOST_COLUMNS = 500;
/** In characters: a column is named by each of its errors. */
const LONGEST_COLUMN = 200;

/**
 * The options with what was left out.
 * @throws Problem `invalid_mapping`; `permission_denied` where consents are mapped without `core.consents.write`, or a
 * national id in a dry run, which would tell who has it, without `core.contacts.read_national_id`
 */
export function completeOptions(context: RequestContext, given: ImportOptionsDto): ImportOptions {
  const fields = checkedFields(given.mapping);
  const isMapped = (head: string): boolean => fields.some((field) => field.startsWith(`${head}.`));
  if (isMapped('consents')) demandRight(context, 'core.consents.write', 'consents are mapped');
  if (given.dry_run === true && isMapped('national_id'))
    demandRight(
      context,
      'core.contacts.read_national_id',
      'a dry run would tell which national ids are taken',
    );
  const matchBy = given.match_by ?? MATCHES.find((field) => fields.includes(field));
  if (matchBy === undefined || !fields.includes(matchBy)) {
    const detail =
      matchBy === undefined
        ? 'A column must be mapped to one of `external_id`, `email` and `phone`.'
        : `No column is mapped to \`${matchBy}\`, by which contacts are to be found.`;
    throw invalid([{ pointer: '/mapping', code: 'invalid_mapping', detail }]);
  }
  return {
    format: given.format ?? 'csv',
    delimiter: given.delimiter ?? ',',
    encoding: given.encoding ?? 'utf-8',
    mapping: given.mapping,
    match_by: matchBy,
    on_existing: given.on_existing ?? 'update',
    dry_run: given.dry_run ?? false,
  };
}

/**
 * The file's own columns must be those that are mapped.
 * @throws Problem `invalid_mapping`
 */
export function demandMapped(columns: readonly string[], { mapping, format }: ImportOptions): void {
  if (columns.length > MOST_COLUMNS) throw tooManyColumns();
  const errors = new FieldErrors();
  const refuse = (column: string, detail: string): void => {
    errors.add({ pointer: `/mapping/${pointerToken(column)}`, code: 'invalid_mapping', detail });
  };
  const named = columns.filter((column) => !isBlank(column));
  if (new Set(named).size < named.length)
    errors.add({ pointer: '/mapping', code: 'invalid_mapping', detail: 'Two columns have the same name.' });
  for (const column of named)
    if (!Object.hasOwn(mapping, column))
      refuse(column, `The column \`${column.slice(0, 100)}\` is not mapped.`);
  // A line of JSON may leave out what others have.
  const known = new Set(columns);
  if (format === 'csv')
    for (const column of Object.keys(mapping))
      if (!known.has(column)) refuse(column, `The file has no column \`${column.slice(0, 100)}\`.`);
  if (errors.total > 0) throw invalid(errors);
}

/** Whether a cell, or a column's name, says nothing: spreadsheets leave blanks behind. */
export function isBlank(text: string): boolean {
  return cutEnds(text) === '';
}

/** A file has no more columns than a mapping may name: each of them is mapped. */
export function tooManyColumns(): Problem {
  const detail = `The file has more than ${MOST_COLUMNS} columns.`;
  return invalid([{ pointer: '/mapping', code: 'invalid_mapping', detail }]);
}

/** What a field of a mapping names; undefined where there is no such field. */
export function targetOf(field: string): Target | undefined {
  const plain = FIELD_NAMES.find((name) => name === field);
  if (plain) return { kind: 'field', field: plain };
  const [head = ''] = field.split('.', 1);
  const rest = field.slice(head.length + 1);
  if (rest === '') return undefined;
  switch (head) {
    case 'national_id':
      return isNationalIdType(rest) ? { kind: 'national_id', type: rest } : undefined;
    case 'attributes':
      return FORBIDDEN_KEYS.has(rest) ? undefined : { kind: 'attribute', key: rest };
    case 'consents':
      return consentTarget(rest);
    default:
      return undefined;
  }
}

function consentTarget(text: string): Target | undefined {
  const detail = CONSENT_DETAILS.find((name) => name === text);
  if (detail) return { kind: 'consent_detail', detail };
  const whole: unknown = text;
  if (isPurpose(whole)) return { kind: 'consent', purpose: whole, channel: null };
  const at = text.lastIndexOf('.');
  const purpose = text.slice(0, at);
  const channel = text.slice(at + 1);
  const isChannel = (CONSENT_CHANNELS as readonly string[]).includes(channel);
  return isChannel && isPurpose(purpose) ? { kind: 'consent', purpose, channel } : undefined;
}

function checkedFields(mapping: Record<string, unknown>): string[] {
  const entries = Object.entries(mapping);
  const errors: FieldError[] = [];
  if (entries.length > MOST_COLUMNS) {
    const detail = `At most ${MOST_COLUMNS} columns are mapped.`;
    throw invalid([{ pointer: '/mapping', code: 'invalid_mapping', detail }]);
  }
  const seen = new Set<string>();
  for (const [column, field] of entries) {
    if (column.length > LONGEST_COLUMN) {
      const detail = `The name of a column has at most ${LONGEST_COLUMN} characters.`;
      errors.push({ pointer: `/mapping/${pointerToken(column)}`, code: 'invalid_mapping', detail });
    }
    if (field === null) continue;
    const target = typeof field === 'string' ? targetOf(field) : undefined;
    const name = target?.kind === 'national_id' ? 'national_id' : field;
    if (target && typeof name === 'string' && !seen.has(name)) {
      seen.add(name);
      continue;
    }
    const pointer = `/mapping/${pointerToken(column)}`;
    const detail = target ? 'Two columns fill the same field.' : 'There is no such field of a contact.';
    errors.push({ pointer, code: 'invalid_mapping', detail });
  }
  if (errors.length > 0) throw invalid(errors);
  return entries.flatMap(([, field]) => (typeof field === 'string' ? [field] : []));
}

function demandRight(context: RequestContext, permission: Permission, because: string): void {
  if (context.can(permission)) return;
  throw new Problem('permission_denied', {
    detail: `The credential lacks the permission \`${permission}\`, and ${because}.`,
    members: { permission },
  });
}

function invalid(errors: readonly FieldError[] | FieldErrors): Problem {
  return Problem.validation(errors);
}
