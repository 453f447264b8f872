import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { idIn, instantIn, oneOf, textIn } from '../ui/search-params.ts';

export const EVENT_TYPES = ['track', 'identify'] as const;

/** What lets events through, in the address. */
export interface EventsSearch {
  event?: string | undefined;
  external_id?: string | undefined;
  contact_id?: string | undefined;
  type?: (typeof EVENT_TYPES)[number] | undefined;
  /** The event beside the list, by its idempotency key: there is one of each. */
  open?: string | undefined;
}

/** Of the earlier ones also those that came until then. */
export interface EarlierSearch extends EventsSearch {
  until?: string | undefined;
}

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
