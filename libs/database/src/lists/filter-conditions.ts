import type { ListQuery } from '@customer-platform/http';
import { castOf } from './keyset.js';
import type { Parameters } from './parameters.js';

type Filter = ListQuery['filters'][number];

const COMPARISONS: Record<string, string> = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' };

/** One filter as SQL. A row without a value matches `ne` and `is_null` only. */
export function filterCondition(filter: Filter, parameters: Parameters): string {
  const { column, op } = filter;
  const comparison = COMPARISONS[op];
  if (comparison) return `${column} ${comparison} ${value(filter, filter.value, parameters)}`;
  if (op === 'ne') return `${column} IS DISTINCT FROM ${value(filter, filter.value, parameters)}`;
  if (op === 'in') return among(filter, parameters);
  if (op === 'is_null') return `${column} IS ${filter.value === true ? '' : 'NOT '}NULL`;
  if (op === 'prefix') return prefix(filter, parameters);
  throw new Error(`A list knows no filter operation ${op}`);
}

/** Not LIKE, which no index serves under row level security: it is not leakproof. This one an index in "C" serves. */
function prefix(filter: Filter, parameters: Parameters): string {
  return `${filter.column} ^@ ${value(filter, filter.value, parameters)}`;
}

function value(filter: Filter, given: unknown, parameters: Parameters): string {
  const place = parameters.add(given, castOf(filter.type));
  return ignoresCase(filter) ? `lower(${place})` : place;
}

function among(filter: Filter, parameters: Parameters): string {
  const list = parameters.add(filter.values, `${castOf(filter.type)}[]`);
  if (ignoresCase(filter)) return `${filter.column} IN (SELECT lower(item) FROM unnest(${list}) AS item)`;
  return `${filter.column} = ANY(${list})`;
}

/** A column given as `lower(…)` says that its text is compared ignoring case. */
function ignoresCase(filter: Filter): boolean {
  return filter.column.startsWith('lower(');
}
