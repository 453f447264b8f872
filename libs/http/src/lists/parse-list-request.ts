import { createHash } from 'node:crypto';
import { FieldErrors, Problem, type FieldError } from '@customer-platform/problem-json';
import { pointerToken } from '../json/json-pointer.js';
import { refuseUnknown, type QueryParameter } from '../reading/query-string.js';
import type { Cursors, CursorScope } from './cursors.js';
import { DEFAULT_OPS, expectedValue, readValue, splitValues } from './filter-values.js';
import type {
  FilterOp,
  FilterSpec,
  FilterValue,
  ListDefinition,
  ListFilter,
  ListQuery,
  ListSort,
} from './list-definition.js';
import { issueCursor, readCursor } from './positions.js';
import { collationOf, type TextCollation } from './text-collations.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_IN_VALUES = 100;
const PARAMETER = /^(?<field>[^[\]]+)(?:\[(?<op>[^[\]]*)\])?$/;

/** Names and values a request may use on a list, the filters with those of a timeline source. */
export function filtersOf(definition: ListDefinition): Readonly<Record<string, FilterSpec>> {
  const source = definition.timelineSource;
  if (!source || Object.hasOwn(definition.filters, 'occurred_at')) return definition.filters;
  return { ...definition.filters, occurred_at: { type: 'time', column: source.occurredAt } };
}

/** The fields that a list is sorted by; one that has a single descending order with its minus. */
export function sortsOf({ sorts }: ListDefinition): string[] {
  return Object.entries(sorts).map(([field, { only }]) => (only === 'desc' ? `-${field}` : field));
}

/** The parameters of a list that are no filters. */
function reservedParameters(definition: ListDefinition): string[] {
  return [
    'limit',
    'cursor',
    'sort',
    ...(definition.includeDeleted ? ['include_deleted'] : []),
    ...(definition.timelineSource ? ['before_occurred_at', 'before_id'] : []),
    ...Object.keys(definition.extraParameters ?? {}),
  ];
}

/**
 * Reads a list request by its definition (the public contract, "Lists"). Text that people read is sorted by `locale`, the
 * organization's; a cursor goes on in the order in which it began.
 * @throws `unknown_parameter`, `invalid_filter`, `invalid_sort`, `invalid_limit`, `invalid_cursor` or
 * `cursor_mismatch`, each with `errors`.
 */
export function parseListRequest(
  definition: ListDefinition,
  parameters: readonly QueryParameter[],
  organizationId: string,
  cursors: Cursors,
  locale?: string,
): ListQuery {
  const filterSpecs = filtersOf(definition);
  const { reserved, filterParameters } = separate(definition, filterSpecs, parameters);
  const filters = filterParameters.map(({ field, op, value, name }) =>
    readFilter(name, field, op, value, filterSpecs[field] as FilterSpec),
  );
  const limit = readLimit(reserved.get('limit'));
  const asked = readSort(definition, reserved.get('sort'), collationOf(locale));
  const visibility = readFlag('include_deleted', reserved.get('include_deleted')) ? 'any' : 'live';
  const before = readBefore(definition, reserved.get('before_occurred_at'), reserved.get('before_id'));
  const extra = readExtra(definition, reserved);
  const scope: CursorScope = {
    organizationId,
    resource: definition.resource,
    query: fingerprint({ filters, sort: asked, visibility, before, extra }),
  };
  const { sort, ...position } = readCursor(cursors, scope, asked, reserved.get('cursor'));
  return {
    limit,
    filters,
    sort,
    visibility,
    parameters: extra,
    ...position,
    ...(before ? { before } : {}),
    cursorFor: (values, version) => issueCursor(cursors, scope, sort, values, version),
  };
}

/**
 * Reads the filters of a list from a body: members named and written as the parameters of the query are.
 * @throws `unknown_parameter` or `invalid_filter`, at the member under `pointer`
 */
export function parseFilters(
  definition: ListDefinition,
  given: Readonly<Record<string, unknown>>,
  pointer: string,
): ListFilter[] {
  const specs = filtersOf(definition);
  const errors = new FieldErrors();
  const filters = Object.entries(given).flatMap(([name, value]) => {
    const { field = name, op = 'eq' } = PARAMETER.exec(name)?.groups ?? {};
    const at = `${pointer}/${pointerToken(name)}`;
    try {
      const spec = Object.hasOwn(specs, field) ? specs[field] : undefined;
      if (!spec) refuseUnknown([name], Object.keys(specs));
      else if (typeof value === 'string') return readFilter(name, field, op, value, spec);
      else throw refusal('invalid_filter', name, 'A filter is a text, as in a query.');
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      for (const { code, detail } of error.errors ?? []) errors.add({ pointer: at, code, detail });
    }
    return [];
  });
  if (errors.total > 0) throw Problem.validation(errors);
  return filters;
}

interface FilterParameter {
  readonly name: string;
  readonly field: string;
  readonly op: string;
  readonly value: string;
}

function separate(
  definition: ListDefinition,
  filterSpecs: Readonly<Record<string, FilterSpec>>,
  parameters: readonly QueryParameter[],
): { reserved: Map<string, string>; filterParameters: FilterParameter[] } {
  const reservedNames = reservedParameters(definition);
  const reserved = new Map<string, string>();
  const filterParameters: FilterParameter[] = [];
  const unknown: string[] = [];
  const seen = new Set<string>();
  for (const { name, value } of parameters) {
    const { field = name, op = 'eq' } = PARAMETER.exec(name)?.groups ?? {};
    const isFilter = Object.hasOwn(filterSpecs, field);
    if (!reservedNames.includes(name) && !isFilter) {
      unknown.push(name);
      continue;
    }
    const key = isFilter ? `${field}[${op}]` : name;
    if (seen.has(key)) throw refusal('invalid_filter', name, `\`${name}\` is given twice.`);
    seen.add(key);
    if (isFilter) filterParameters.push({ name, field, op, value });
    else reserved.set(name, value);
  }
  refuseUnknown(unknown, [...reservedNames, ...Object.keys(filterSpecs)]);
  return { reserved, filterParameters };
}

function readFilter(name: string, field: string, op: string, text: string, spec: FilterSpec): ListFilter {
  const ops = spec.ops ?? DEFAULT_OPS[spec.type];
  if (!isOneOf(ops, op)) {
    throw refusal('invalid_filter', name, `\`${field}\` takes the operators ${ops.join(', ')}.`);
  }
  if (op === 'is_null') {
    const flag = readValue('boolean', text);
    if (flag === undefined) throw refusal('invalid_filter', name, '`is_null` takes true or false.');
    return { field, op, column: spec.column, type: spec.type, value: flag, values: [flag] };
  }
  const texts = op === 'in' ? splitValues(text) : [text];
  if (texts.length > MAX_IN_VALUES) {
    throw refusal('invalid_filter', name, `\`in\` takes up to ${MAX_IN_VALUES} values.`);
  }
  const values = texts.map((part) => {
    const value = readValue(spec.type, part, spec.values);
    if (value !== undefined) return value;
    throw refusal('invalid_filter', name, `\`${name}\` takes ${expectedValue(spec.type, spec.values)}.`);
  });
  const column = op === 'prefix' ? (spec.prefixColumn ?? spec.column) : spec.column;
  return { field, op, column, type: spec.type, value: values[0] as FilterValue, values };
}

function isOneOf(ops: readonly FilterOp[], op: string): op is FilterOp {
  return (ops as readonly string[]).includes(op);
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  if (!/^\d+$/.test(text) || Number(text) === 0) {
    throw refusal('invalid_limit', 'limit', `\`limit\` is a whole number from 1 to ${MAX_LIMIT}.`);
  }
  return Math.min(Number(text), MAX_LIMIT);
}

function readSort(
  definition: ListDefinition,
  text: string | undefined,
  collation: TextCollation,
): ListSort[] {
  const allowed = sortsOf(definition);
  const sort: ListSort[] = [];
  for (const part of (text ?? definition.defaultSort).split(',')) {
    const descending = part.startsWith('-');
    const field = descending ? part.slice(1) : part;
    const direction = descending ? 'desc' : 'asc';
    const spec = Object.hasOwn(definition.sorts, field) ? definition.sorts[field] : undefined;
    if (!spec || (spec.only ?? direction) !== direction)
      throw refusal('invalid_sort', 'sort', `This list sorts by ${allowed.join(', ')}.`);
    if (sort.some((level) => level.field === field)) {
      throw refusal('invalid_sort', 'sort', `\`sort\` names \`${field}\` twice.`);
    }
    const nulls = spec.nulls ? { nulls: spec.nulls } : {};
    sort.push({
      field,
      column: spec.column,
      type: spec.type,
      direction,
      ...(spec.byLanguage ? { collation } : {}),
      ...nulls,
    });
  }
  const tie = definition.tieBreaker ?? { field: 'id', column: 'id', type: 'uuid' as const };
  const direction = sort.at(-1)?.direction ?? 'desc';
  if (!sort.some((level) => level.field === tie.field)) sort.push({ ...tie, direction });
  return sort;
}

function readFlag(parameter: string, text: string | undefined): boolean {
  if (text === undefined) return false;
  const flag = readValue('boolean', text);
  if (typeof flag === 'boolean') return flag;
  throw refusal('invalid_filter', parameter, `\`${parameter}\` takes true or false.`);
}

function readBefore(
  definition: ListDefinition,
  time: string | undefined,
  id: string | undefined,
): ListQuery['before'] {
  if (!definition.timelineSource || (time === undefined && id === undefined)) return undefined;
  const [present, absent] =
    id === undefined ? ['before_occurred_at', 'before_id'] : ['before_id', 'before_occurred_at'];
  if (time === undefined || id === undefined) {
    throw Problem.validation([
      { parameter: absent, code: 'required', detail: `\`${present}\` is taken with \`${absent}\` only.` },
    ]);
  }
  const occurredAt = readValue('time', time);
  if (typeof occurredAt !== 'string') {
    throw refusal(
      'invalid_filter',
      'before_occurred_at',
      `\`before_occurred_at\` takes ${expectedValue('time')}.`,
    );
  }
  const uuid = readValue('uuid', id);
  if (typeof uuid !== 'string') throw refusal('invalid_filter', 'before_id', '`before_id` takes a UUID.');
  return { occurredAt, id: uuid, column: definition.timelineSource.occurredAt };
}

function readExtra(
  definition: ListDefinition,
  given: ReadonlyMap<string, string>,
): Record<string, FilterValue | undefined> {
  const values: Record<string, FilterValue | undefined> = {};
  for (const [name, spec] of Object.entries(definition.extraParameters ?? {})) {
    const text = given.get(name);
    if (text === undefined) {
      if (!spec.required) continue;
      throw Problem.validation([{ parameter: name, code: 'required', detail: `\`${name}\` is required.` }]);
    }
    const value = readValue(spec.type, text, spec.values);
    if (value === undefined) {
      throw refusal('invalid_filter', name, `\`${name}\` takes ${expectedValue(spec.type, spec.values)}.`);
    }
    values[name] = value;
  }
  return values;
}

type ListCode = 'invalid_filter' | 'invalid_sort' | 'invalid_limit';

function refusal(code: ListCode, parameter: string, detail: string): Problem {
  const errors: FieldError[] = [{ parameter, code, detail }];
  return Problem.validation(errors);
}

/** A digest of what a cursor is bound to beside its list, the same whatever the order of the parameters. */
function fingerprint(query: {
  filters: readonly ListFilter[];
  sort: readonly ListSort[];
  visibility: string;
  before: ListQuery['before'];
  extra: Record<string, FilterValue | undefined>;
}): string {
  const filters = query.filters.map(({ field, op, values }) => JSON.stringify([field, op, values])).sort();
  const sort = query.sort.map(({ field, direction }) => `${field} ${direction}`);
  const before = query.before ? [query.before.occurredAt, query.before.id] : null;
  const text = JSON.stringify([filters, sort, query.visibility, before, query.extra]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
