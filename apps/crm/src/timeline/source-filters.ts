import type { ListFilter } from '@customer-platform/http';
import type { Fragment } from './fragments.js';

/** Whether a fragment is among what the filters `source` and `type` ask for. */
export function isWanted(fragment: Fragment, filters: readonly ListFilter[]): boolean {
  return filters.every(({ field, values }) => {
    if (field === 'source') return values.includes(fragment.source);
    if (field === 'type') return values.includes(fragment.type);
    return true;
  });
}

/** The filters that are passed on to the sources, in the form every timeline source takes. */
export function sourceFilters(filters: readonly ListFilter[]): [name: string, value: string][] {
  const passed: [string, string][] = [];
  for (const { field, value } of filters) {
    if (field === 'correlation_id') passed.push(['correlation_id', String(value)]);
  }
  return [...passed, ...bounds(filters)];
}

/** Sources take ranges of `occurred_at` and each operator once, so an instant becomes a range and the tightest holds. */
function bounds(filters: readonly ListFilter[]): [name: string, value: string][] {
  const tightest = new Map<string, string>();
  const tighten = (op: string, value: string, isTighter: (a: string, b: string) => boolean): void => {
    const known = tightest.get(op);
    if (known === undefined || isTighter(value, known)) tightest.set(op, value);
  };
  const later = (a: string, b: string): boolean => a > b;
  const earlier = (a: string, b: string): boolean => a < b;
  for (const { field, op, value } of filters) {
    if (field !== 'occurred_at') continue;
    const time = String(value);
    if (op === 'gt' || op === 'gte') tighten(op, time, later);
    else if (op === 'lt' || op === 'lte') tighten(op, time, earlier);
    else {
      tighten('gte', time, later);
      tighten('lte', time, earlier);
    }
  }
  return [...tightest].map(([op, value]) => [`occurred_at[${op}]`, value]);
}
