import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { oneOf, textIn } from '../ui/search-params.ts';
import { valueFiltersIn } from './object.ts';

export const DEFINITION_SORTS = ['name', '-name', 'created_at', '-created_at'] as const;

/** How the definitions are sorted, and which of them stands beside the list; `new` is the form of another one. */
export interface DefinitionsSearch {
  deleted?: true | undefined;
  sort?: (typeof DEFINITION_SORTS)[number] | undefined;
  open?: string | undefined;
}

/** What filters and sorts records, and which of them stands beside the list; filters by values are named as the API's. */
export interface RecordsSearch {
  deleted?: true | undefined;
  sort?: string | undefined;
  open?: string | undefined;
  [value: `values.${string}`]: string | undefined;
}

const SORT = /^-?(created_at|updated_at|values\.[a-z][a-z0-9_]{1,39})$/;

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
