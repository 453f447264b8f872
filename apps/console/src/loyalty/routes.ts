import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { idIn, oneOf, textIn } from '../ui/search-params.ts';
import { KINDS, type LedgerSearch, type RulesSearch } from './search-params.ts';

type Search = Record<string, unknown>;

const ledgerRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'loyalty',
  validateSearch: (search: Search): LedgerSearch => ({
    contact_id: textIn(search, 'contact_id'),
    kind: oneOf(search, 'kind', KINDS),
    rule_id: idIn(search, 'rule_id'),
    reference: textIn(search, 'reference'),
    correlation_id: idIn(search, 'correlation_id'),
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./ledger-page.tsx'), 'LedgerPage'),
});

const loyaltyRulesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'loyalty/rules',
  validateSearch: (search: Search): RulesSearch => ({
    name: textIn(search, 'name'),
    event: textIn(search, 'event'),
    enabled: oneOf(search, 'enabled', ['true', 'false']),
    deleted: search['deleted'] === true ? true : undefined,
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./rules-page.tsx'), 'RulesPage'),
});

export const loyaltyRoutes = [ledgerRoute, loyaltyRulesRoute] as const;
