import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { idIn, instantIn, oneOf, textIn } from '../ui/search-params.ts';

export const OUTCOMES = ['success', 'denied'] as const;
export const MODULES = ['core', 'crm', 'identity', 'loyalty', 'messaging'] as const;

/** What filters the log, in the address. */
export interface AuditFilters {
  action?: string | undefined;
  module?: (typeof MODULES)[number] | undefined;
  actor_id?: string | undefined;
  resource_type?: string | undefined;
  resource_id?: string | undefined;
  outcome?: (typeof OUTCOMES)[number] | undefined;
  correlation_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export interface AuditSearch extends AuditFilters {
  /** The row beside the list, by its place in the chain. */
  open?: string | undefined;
}

export const auditRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'audit',
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
  validateSearch: (search: Record<string, unknown>): AuditSearch => ({
    action: textIn(search, 'action'),
    module: oneOf(search, 'module', MODULES),
    actor_id: textIn(search, 'actor_id'),
    resource_type: textIn(search, 'resource_type'),
    resource_id: textIn(search, 'resource_id'),
    outcome: oneOf(search, 'outcome', OUTCOMES),
    correlation_id: idIn(search, 'correlation_id'),
    from: instantIn(search, 'from'),
    to: instantIn(search, 'to'),
    open: /^\d{1,15}$/.exec(textIn(search, 'open') ?? '')?.[0],
  }),
});
