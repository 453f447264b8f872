import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';

interface AccountSearch {
  /** Sessions that are over, in place of those that go on. */
  sessions?: 'ended';
}

export const accountRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'account',
  validateSearch: ({ sessions }: Record<string, unknown>): AccountSearch =>
    sessions === 'ended' ? { sessions } : {},
  component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
});
