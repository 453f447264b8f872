import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { oneOf, textIn } from '../ui/search-params.ts';
import { type PrivacySearch, STATES, TYPES } from './search-params.ts';

export const privacyRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'privacy',
  validateSearch: (search: Record<string, unknown>): PrivacySearch => ({
    type: oneOf(search, 'type', TYPES),
    state: oneOf(search, 'state', STATES),
    overdue: search['overdue'] === true ? true : undefined,
    closed: search['closed'] === true ? true : undefined,
    contact_id: textIn(search, 'contact_id'),
    open: textIn(search, 'open'),
    ask: search['open'] === 'new' ? oneOf(search, 'ask', TYPES) : undefined,
  }),
  component: lazyRouteComponent(() => import('./privacy-page.tsx'), 'PrivacyPage'),
});
