import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { oneOf, textIn } from '../ui/search-params.ts';
import {
  dayIn,
  GRANULARITIES,
  GROUPINGS,
  MEASURES,
  type Granularity,
  type Grouping,
  type Measure,
} from './deliverability.ts';

/** Which figures are shown: of which days, in what periods, by what, and of which group the charts are. */
export interface DeliverabilitySearch {
  from?: string | undefined;
  to?: string | undefined;
  granularity?: Granularity | undefined;
  group_by?: Grouping | undefined;
  group?: string | undefined;
  sort?: Measure | undefined;
}

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
