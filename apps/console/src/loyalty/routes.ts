import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { idIn, oneOf, textIn } from '../ui/search-params.ts';

export const KINDS = ['earn', 'adjust', 'spend', 'expire', 'reverse'] as const;

/** What filters the ledger, and which of its rows is open. */
export interface LedgerSearch {
  contact_id?: string | undefined;
  kind?: (typeof KINDS)[number] | undefined;
  rule_id?: string | undefined;
  reference?: string | undefined;
  correlation_id?: string | undefined;
  open?: string | undefined;
}

/** What filters the rules, and which of them stands beside the list; `new` is the form of another one. */
export interface RulesSearch {
  name?: string | undefined;
  event?: string | undefined;
  enabled?: 'true' | 'false' | undefined;
  deleted?: true | undefined;
  open?: string | undefined;
}

type Search = Record<string, unknown>;

export const ledgerRoute = createRoute({
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

export const loyaltyRulesRoute = createRoute({
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
