import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { oneOf, textIn } from '../ui/search-params.ts';
import { valueFiltersIn } from './value-filters.ts';

export const DEFINITION_SORTS = ['name', '-name', 'created_at', '-created_at'] as const;

/** How the definitions are sorted, and which of them stands beside the list; `new` is the form of another one. */
export interface DefinitionsSearch {
  deleted?: true | undefined;
  sort?: (typeof DEFINITION_SORTS)[number] | undefined;
  open?: string | undefined;
}

/**
 * What filters and sorts records, and which of them stands beside the list. Filters by values stand there, too, by the
 * names that the API gives them: `valueFiltersIn` reads them.
 */
export interface RecordsSearch {
  deleted?: true | undefined;
  sort?: string | undefined;
  open?: string | undefined;
}

const SORT = /^-?(created_at|updated_at|values\.[a-z][a-z0-9_]{1,39})$/;

/** The records of which a field refers to something. */
export function referringTo(key: string, id: string): RecordsSearch {
  return { [`values.${key}`]: id };
}

export const objectsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'objects',
  validateSearch: (search: Record<string, unknown>): DefinitionsSearch => ({
    deleted: search['deleted'] === true ? true : undefined,
    sort: oneOf(search, 'sort', DEFINITION_SORTS),
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./objects-page.tsx'), 'ObjectsPage'),
});

export const recordsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'objects/$definition',
  validateSearch: (search: Record<string, unknown>): RecordsSearch => {
    const sort = textIn(search, 'sort');
    return {
      ...valueFiltersIn(search),
      deleted: search['deleted'] === true ? true : undefined,
      sort: sort !== undefined && SORT.test(sort) ? sort : undefined,
      open: textIn(search, 'open'),
    };
  },
  component: lazyRouteComponent(() => import('./records-page.tsx'), 'RecordsPage'),
});

export const objectRoutes = [objectsRoute, recordsRoute] as const;
