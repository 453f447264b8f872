import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';
import { oneOf, textIn } from '../ui/search-params.ts';

export const STATES = ['queued', 'running', 'completed', 'failed'] as const;

/** What filters the imports, and which of them stands beside the list; `new` is the form of another one. */
export interface ImportsSearch {
  state?: (typeof STATES)[number] | undefined;
  open?: string | undefined;
}

export const importsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'contacts/imports',
  validateSearch: (search: Record<string, unknown>): ImportsSearch => ({
    state: oneOf(search, 'state', STATES),
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./imports-page.tsx'), 'ImportsPage'),
});
