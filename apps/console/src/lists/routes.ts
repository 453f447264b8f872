import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { oneOf, textIn } from '../ui/search-params.ts';
import { LIST_SORTS, type ListsSearch } from './search-params.ts';

export const listsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'contacts/lists',
  validateSearch: (search: Record<string, unknown>): ListsSearch => ({
    name: textIn(search, 'name'),
    deleted: search['deleted'] === true ? true : undefined,
    sort: oneOf(search, 'sort', LIST_SORTS),
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./lists-page.tsx'), 'ListsPage'),
});
