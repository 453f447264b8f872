import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { idIn, instantIn, oneOf, textIn } from '../ui/search-params.ts';
import { type AuditSearch, MODULES, OUTCOMES } from './search-params.ts';

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
