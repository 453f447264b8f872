import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { oneOf, textIn } from '../ui/search-params.ts';
import { TYPES } from './vocabulary.ts';
import type { AttributesSearch } from './search-params.ts';

export const attributesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'attributes',
  validateSearch: (search: Record<string, unknown>): AttributesSearch => ({
    key: textIn(search, 'key'),
    type: oneOf(search, 'type', TYPES),
    deleted: search['deleted'] === true ? true : undefined,
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./attributes-page.tsx'), 'AttributesPage'),
});
