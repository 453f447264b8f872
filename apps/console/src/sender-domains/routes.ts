import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { oneOf, textIn } from '../ui/search-params.ts';
import { DOMAIN_SORTS, DOMAIN_STATES, type DomainSort, type DomainState } from './sender-domain.ts';

/** What filters and sorts the domains, and which of them stands beside the list; `new` is the form of another one. */
export interface SenderDomainsSearch {
  domain?: string | undefined;
  state?: DomainState | undefined;
  deleted?: true | undefined;
  sort?: DomainSort | undefined;
  open?: string | undefined;
}

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
