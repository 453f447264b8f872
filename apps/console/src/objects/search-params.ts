export const DEFINITION_SORTS = ['name', '-name', 'created_at', '-created_at'] as const;

/** Sorts the definitions, and says which of them stands beside the list; `new` is the form of another one. */
export interface DefinitionsSearch {
  deleted?: true | undefined;
  sort?: (typeof DEFINITION_SORTS)[number] | undefined;
  open?: string | undefined;
}

/**
 * Filters and sorts records, and says which of them stands beside the list. Filters by values stand there, too, by the
 * names that the API gives them: `valueFiltersIn` reads them.
 */
export interface RecordsSearch {
  deleted?: true | undefined;
  sort?: string | undefined;
  open?: string | undefined;
}

/** The records of which a field refers to something. */
export function referringTo(key: string, id: string): RecordsSearch {
  return { [`values.${key}`]: id };
}
