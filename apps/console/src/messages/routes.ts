import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import { idIn, instantIn, oneOf, textIn } from '../ui/search-params.ts';
import {
  CATEGORIES,
  type Channel,
  CHANNELS,
  REASONS,
  ROUTABLE_EVENTS,
  STATES,
  SUPPRESSION_REASONS,
  TEMPLATE_KINDS,
} from './vocabulary.ts';
import {
  type RoutingSearch,
  SENDS_IDS,
  type SendsSearch,
  type SuppressionsSearch,
  type TemplatesSearch,
} from './search-params.ts';

/** What a new template begins as. */
type NewTemplateSearch = Pick<TemplatesSearch, 'kind' | 'channel'>;

/** The versions of a template that stand beside each other. */
interface TemplateSearch {
  from?: number | undefined;
  to?: number | undefined;
}

/** The channel whose form is open. */
interface ChannelsSearch {
  open?: Channel | undefined;
}

const sendsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages',
  validateSearch: (search): SendsSearch =>
    said({
      channel: oneOf(search, 'channel', CHANNELS),
      state: oneOf(search, 'state', STATES),
      category: oneOf(search, 'category', CATEGORIES),
      reason: oneOf(search, 'reason', REASONS),
      address: textIn(search, 'address'),
      ...idsIn(search, SENDS_IDS),
      from: instantIn(search, 'from'),
      to: instantIn(search, 'to'),
      open: textIn(search, 'open'),
    }),
  component: lazyRouteComponent(() => import('./sends-page.tsx'), 'SendsPage'),
});

const templatesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/templates',
  validateSearch: (search: Record<string, unknown>): TemplatesSearch => ({
    name: textIn(search, 'name'),
    kind: oneOf(search, 'kind', TEMPLATE_KINDS),
    channel: oneOf(search, 'channel', CHANNELS),
    deleted: search['deleted'] === true ? true : undefined,
  }),
  component: lazyRouteComponent(() => import('./templates-page.tsx'), 'TemplatesPage'),
});

const newTemplateRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/templates/new',
  validateSearch: (search: Record<string, unknown>): NewTemplateSearch => ({
    kind: oneOf(search, 'kind', TEMPLATE_KINDS),
    channel: oneOf(search, 'channel', CHANNELS),
  }),
  component: lazyRouteComponent(() => import('./new-template-page.tsx'), 'NewTemplatePage'),
});

const templateRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/templates/$template',
  validateSearch: (search: Record<string, unknown>): TemplateSearch => ({
    from: numberIn(search, 'from'),
    to: numberIn(search, 'to'),
  }),
  component: lazyRouteComponent(() => import('./template-page.tsx'), 'TemplatePage'),
});

const suppressionsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/suppressions',
  validateSearch: (search): SuppressionsSearch =>
    said({
      channel: oneOf(search, 'channel', CHANNELS),
      address: textIn(search, 'address'),
      reason: oneOf(search, 'reason', SUPPRESSION_REASONS),
      lifted: oneOf(search, 'lifted', ['true']),
      lifted_by: idIn(search, 'lifted_by'),
    }),
  component: lazyRouteComponent(() => import('./suppressions-page.tsx'), 'SuppressionsPage'),
});

const routingRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/routing',
  validateSearch: (search: Record<string, unknown>): RoutingSearch => ({
    event_type: oneOf(search, 'event_type', ROUTABLE_EVENTS),
    channel: oneOf(search, 'channel', CHANNELS),
    enabled: oneOf(search, 'enabled', ['true', 'false']),
    deleted: search['deleted'] === true ? true : undefined,
    open: textIn(search, 'open'),
  }),
  component: lazyRouteComponent(() => import('./routing-page.tsx'), 'RoutingPage'),
});

const channelsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/channels',
  validateSearch: (search: Record<string, unknown>): ChannelsSearch => ({
    open: oneOf(search, 'open', CHANNELS),
  }),
  component: lazyRouteComponent(() => import('./channels-page.tsx'), 'ChannelsPage'),
});

export const messageRoutes = [
  sendsRoute,
  templatesRoute,
  newTemplateRoute,
  templateRoute,
  suppressionsRoute,
  routingRoute,
  channelsRoute,
] as const;

function numberIn(search: Record<string, unknown>, name: string): number | undefined {
  const value = search[name];
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

function idsIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string | undefined>> {
  return Object.fromEntries(names.map((name) => [name, idIn(search, name)])) as Record<
    Name,
    string | undefined
  >;
}

/** Leaves out what an address does not say. */
function said<Name extends string>(
  values: Partial<Record<Name, string | undefined>>,
): Partial<Record<Name, string>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<
    Record<Name, string>
  >;
}
