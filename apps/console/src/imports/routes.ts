import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { oneOf, textIn } from '../ui/search-params.ts';
import { type ImportsSearch, STATES } from './search-params.ts';

export const importsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'contacts/imports',
  validateSearch: (search: Record<string, unknown>): ImportsSearch => ({
    state: oneOf(search, 'state', STATES),
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./imports-page.tsx'), 'ImportsPage'),
});
