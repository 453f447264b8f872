import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { idIn, oneOf, textIn } from '../ui/search-params.ts';
import { LETTER_STATES, STAGES } from './dead-letters/dead-letter.ts';
import {
  type DeadLettersSearch,
  KEY_STATES,
  MODULES,
  type ReferenceSearch,
  type WebhooksSearch,
} from './search-params.ts';

interface KeysSearch {
  status?: (typeof KEY_STATES)[number] | undefined;
  /** The key that is marked, or the form of a new one. */
  open?: string | undefined;
}

interface TaxonomiesSearch {
  /** The taxonomy beside the list, by its slug. */
  open?: string | undefined;
}

type Search = Record<string, unknown>;

const developersRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'developers',
  component: lazyRouteComponent(() => import('./developers-page.tsx'), 'DevelopersPage'),
});

const firstRoute = createRoute({
  getParentRoute: () => developersRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./developers-page.tsx'), 'ToFirst'),
});

const keysRoute = createRoute({
  getParentRoute: () => developersRoute,
  path: 'keys',
  component: lazyRouteComponent(() => import('./keys/keys-page.tsx'), 'KeysPage'),
  validateSearch: (search: Search): KeysSearch => ({
    status: oneOf(search, 'status', KEY_STATES),
    open: textIn(search, 'open'),
  }),
});

const webhooksRoute = createRoute({
  getParentRoute: () => developersRoute,
  path: 'webhooks',
  component: lazyRouteComponent(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  validateSearch: (search: Search): WebhooksSearch => ({
    enabled: oneOf(search, 'enabled', ['true', 'false']),
    open: textIn(search, 'open'),
  }),
});

const deadLettersRoute = createRoute({
  getParentRoute: () => developersRoute,
  path: 'dead-letters',
  component: lazyRouteComponent(() => import('./dead-letters/dead-letters-page.tsx'), 'DeadLettersPage'),
  validateSearch: (search: Search): DeadLettersSearch => ({
    state: oneOf(search, 'state', LETTER_STATES),
    stage: oneOf(search, 'stage', STAGES),
    code: textIn(search, 'code'),
    external_id: textIn(search, 'external_id'),
    event_id: idIn(search, 'event_id'),
    open: textIn(search, 'open'),
  }),
});

const taxonomiesRoute = createRoute({
  getParentRoute: () => developersRoute,
  path: 'taxonomies',
  component: lazyRouteComponent(() => import('../taxonomies/taxonomies-page.tsx'), 'TaxonomiesPage'),
  validateSearch: (search: Search): TaxonomiesSearch => ({ open: textIn(search, 'open') }),
});

const referenceRoute = createRoute({
  getParentRoute: () => developersRoute,
  path: 'reference',
  component: lazyRouteComponent(() => import('./reference/reference-page.tsx'), 'ReferencePage'),
  validateSearch: (search: Search): ReferenceSearch => ({
    q: textIn(search, 'q'),
    module: oneOf(search, 'module', MODULES),
    open: textIn(search, 'open'),
  }),
});

export const developerRoutes = developersRoute.addChildren([
  firstRoute,
  keysRoute,
  webhooksRoute,
  deadLettersRoute,
  taxonomiesRoute,
  referenceRoute,
]);
