import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { oneOf, textIn } from '../ui/search-params.ts';

export const TYPES = ['access', 'erasure', 'portability', 'rectification', 'opposition', 'blocking'] as const;
export const STATES = ['verifying', 'in_progress', 'completed', 'rejected'] as const;

/** What filters the requests of persons, and which stands beside the list; `new` is the form of another one. */
export interface PrivacySearch {
  type?: (typeof TYPES)[number] | undefined;
  state?: (typeof STATES)[number] | undefined;
  overdue?: true | undefined;
  /** Also those that are completed or rejected, where no state is asked for. */
  closed?: true | undefined;
  contact_id?: string | undefined;
  open?: string | undefined;
}

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
  }),
  component: lazyRouteComponent(() => import('./privacy-page.tsx'), 'PrivacyPage'),
});
