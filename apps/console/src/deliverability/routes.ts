import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { oneOf, textIn } from '../ui/search-params.ts';
import { dayIn, GRANULARITIES, GROUPINGS, MEASURES } from './deliverability.ts';
import type { DeliverabilitySearch } from './search-params.ts';

export const deliverabilityRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/deliverability',
  validateSearch: (search: Record<string, unknown>): DeliverabilitySearch => ({
    from: dayIn(search, 'from'),
    to: dayIn(search, 'to'),
    granularity: oneOf(search, 'granularity', GRANULARITIES),
    group_by: oneOf(search, 'group_by', GROUPINGS),
    group: textIn(search, 'group'),
    sort: oneOf(search, 'sort', MEASURES),
  }),
  component: lazyRouteComponent(() => import('./deliverability-page.tsx'), 'DeliverabilityPage'),
});
