import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { oneOf, textIn } from '../ui/search-params.ts';
import { valueFiltersIn } from './value-filters.ts';
import { DEFINITION_SORTS, type DefinitionsSearch, type RecordsSearch } from './search-params.ts';

const SORT = /^-?(created_at|updated_at|values\.[a-z][a-z0-9_]{1,39})$/;

const objectsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'objects',
  validateSearch: (search: Record<string, unknown>): DefinitionsSearch => ({
    deleted: search['deleted'] === true ? true : undefined,
    sort: oneOf(search, 'sort', DEFINITION_SORTS),
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./objects-page.tsx'), 'ObjectsPage'),
});

const recordsRoute = createRoute({
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
