import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { idIn, instantIn, oneOf, textIn } from '../ui/search-params.ts';
import { type EarlierSearch, EVENT_TYPES, type EventsSearch } from './search-params.ts';

const filters = (search: Record<string, unknown>): EventsSearch => ({
  event: textIn(search, 'event'),
  external_id: textIn(search, 'external_id'),
  contact_id: idIn(search, 'contact_id'),
  type: oneOf(search, 'type', EVENT_TYPES),
  open: textIn(search, 'open'),
});

export const eventsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'events',
  component: lazyRouteComponent(() => import('./live-page.tsx'), 'LivePage'),
  validateSearch: filters,
});

export const earlierEventsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'events/earlier',
  component: lazyRouteComponent(() => import('./earlier-page.tsx'), 'EarlierPage'),
  validateSearch: (search: Record<string, unknown>): EarlierSearch => ({
    ...filters(search),
    until: instantIn(search, 'until'),
  }),
});
