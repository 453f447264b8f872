import { readFileSync } from 'node:fs';
import { Problem } from '@customer-platform/problem-json';
import { isDay, type ListDefinition, type ListQuery, type Page } from '@customer-platform/http';

/** An entry of a catalog without its code. `valid_to` is the last day; null on either side is open. */
export interface CatalogEntry {
  readonly name: { readonly es: string; readonly en: string };
  readonly valid_from: string | null;
  readonly valid_to: string | null;
}

/** A catalog: entries by code. */
type Catalog<E extends CatalogEntry> = Readonly<Record<string, E>>;

/** An entry as it is listed. */
type Listed<E> = E & { readonly code: string };

/** Reads a vendored catalog of this folder, once, at the start. */
export function vendored<E extends CatalogEntry>(name: string): Catalog<E> {
  return JSON.parse(readFileSync(new URL(`./vendored/${name}.json`, import.meta.url), 'utf8')) as Catalog<E>;
}

const DATE_PATTERN = '[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])';

/** What the list of a catalog takes (core.md §1). */
export function catalogList(name: string): ListDefinition {
  return {
    resource: `core.${name}`,
    filters: {},
    sorts: { code: { type: 'string', column: 'code' } },
    defaultSort: 'code',
    tieBreaker: { field: 'code', type: 'string', column: 'code' },
    extraParameters: {
      valid_on: {
        type: 'string',
        pattern: `^(any|${DATE_PATTERN})$`,
        description:
          'Entries valid on this date (YYYY-MM-DD); `any`: those of the past too. Default: today, UTC.',
      },
    },
  };
}

/**
 * One page of a catalog, by code.
 * @param today the date that `valid_on` stands for when it is absent
 * @throws Problem `invalid_filter` when `valid_on` is neither a date nor `any`
 */
export function pageOfCatalog<E extends CatalogEntry>(
  catalog: Catalog<E>,
  query: ListQuery,
  today: string,
): Page<Listed<E>> {
  const day = validOn(query, today);
  const descending = query.sort[0]?.direction === 'desc';
  const after = query.after?.[0] ?? undefined;
  const codes = Object.keys(catalog).sort();
  if (descending) codes.reverse();
  const rest = codes
    .filter((code) => after === undefined || (descending ? code < after : code > after))
    .map((code) => ({ code, ...catalog[code] }) as Listed<E>)
    .filter((entry) => day === undefined || isValidOn(entry, day));
  const data = rest.slice(0, query.limit);
  const last = rest.length > query.limit ? data.at(-1) : undefined;
  return { data, page: { limit: query.limit, next_cursor: last ? query.cursorFor([last.code]) : null } };
}

function isValidOn({ valid_from, valid_to }: CatalogEntry, day: string): boolean {
  return (valid_from === null || valid_from <= day) && (valid_to === null || day <= valid_to);
}

function validOn(query: ListQuery, today: string): string | undefined {
  const given = query.parameters['valid_on'];
  if (given === undefined) return today;
  if (given === 'any') return undefined;
  if (typeof given === 'string' && isDay(given)) return given;
  const detail = '`valid_on` takes a date as YYYY-MM-DD, or `any`.';
  throw Problem.validation([{ parameter: 'valid_on', code: 'invalid_filter', detail }]);
}
