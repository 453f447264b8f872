import type { ListFilter, TextCollation } from '@customer-platform/http';
import { LONGEST_INDEXED_TEXT, type ObjectField } from '../../fields/field.js';
import { indexed } from './index-values.js';
import { collated, type Places } from './page-parts.js';

/** Sorts behind every other character in CLDR's root and all that follows it. */
const LAST = '\uFFFF';
/** No text of these sorts before its own beginning; of Thai and Lao one may, whose vowels trade places with consonants. */
const IN_ORDER = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}]*$/u;

interface Walked {
  readonly field: ObjectField;
  readonly collation: TextCollation;
  /** The direction of a walk that a cursor has brought past its first bound. */
  readonly begun: 'asc' | 'desc' | undefined;
}

/**
 * Where in the order of a language the rows can be that filters of the same field let through, so that a walk begins at
 * the first and ends with the last. Between them stand others too: of `N` and `n` in turns a prefix means one.
 */
export function boundsByLanguage(
  filters: readonly ListFilter[],
  { field, collation, begun }: Walked,
  places: Places,
): string[] {
  const value = collated('own.value', collation);
  return filters.flatMap((filter) => {
    const ends = endsOf(filter, field);
    if (!ends) return [];
    const end = (which: 'min' | 'max'): string =>
      `(SELECT ${which}(${collated('each', collation)}) FROM unnest(${places.add(ends[which], 'text[]')}) AS each)`;
    return [
      ...(begun === 'asc' ? [] : [`${value} >= ${end('min')}`]),
      ...(begun === 'desc' ? [] : [`${value} <= ${end('max')}`]),
    ];
  });
}

/** Texts of which the first and the last are the ends. */
function endsOf(
  { op, value, values }: ListFilter,
  field: ObjectField,
): { min: readonly string[]; max: readonly string[] } | undefined {
  if (op === 'eq' || op === 'in') {
    const texts = values.map((each) => indexed(field, each));
    return { min: texts, max: texts };
  }
  const prefix = indexed(field, value);
  if (op !== 'prefix' || !IN_ORDER.test(prefix)) return undefined;
  return { min: [prefix], max: [prefix + LAST.repeat(LONGEST_INDEXED_TEXT)] };
}
