/** Filters of a list of records by values, as its address names them: `values.year[gte]` → `2020`. */
export type ValueFilters = Readonly<Record<string, string>>;

const FILTER = /^values\.[a-z][a-z0-9_]{1,39}(\[(prefix|gte|lte)\])?$/;

/** The filters by values that an address holds. */
export function valueFiltersIn(search: Readonly<Record<string, unknown>>): ValueFilters {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => {
      const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
      return FILTER.test(name) && typeof text === 'string' && text !== '' ? [[name, text]] : [];
    }),
  );
}
