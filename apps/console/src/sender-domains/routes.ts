import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { oneOf, textIn } from '../ui/search-params.ts';
import { DOMAIN_SORTS, DOMAIN_STATES } from './sender-domain.ts';
import type { SenderDomainsSearch } from './search-params.ts';

export const senderDomainsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/sender-domains',
  validateSearch: (search: Record<string, unknown>): SenderDomainsSearch => ({
    domain: textIn(search, 'domain'),
    state: oneOf(search, 'state', DOMAIN_STATES),
    deleted: search['deleted'] === true ? true : undefined,
    sort: oneOf(search, 'sort', DOMAIN_SORTS),
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./sender-domains-page.tsx'), 'SenderDomainsPage'),
});
