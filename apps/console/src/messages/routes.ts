import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';

const SENDS_FILTERS = [
  'channel',
  'state',
  'category',
  'reason',
  'address',
  'contact_id',
  'template_id',
  'correlation_id',
] as const;

/** What filters the sends, and which of them is open. */
export type SendsSearch = Partial<Record<(typeof SENDS_FILTERS)[number] | 'open', string>>;

export type TemplatesSearch = Partial<Record<'name' | 'channel', string>> & { deleted?: true };

export type SuppressionsSearch = Partial<Record<'channel' | 'address' | 'reason', string>>;

export const sendsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages',
  validateSearch: (search): SendsSearch => texts(search, [...SENDS_FILTERS, 'open']),
  component: lazyRouteComponent(() => import('./sends-page.tsx'), 'SendsPage'),
});

export const templatesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/templates',
  validateSearch: (search): TemplatesSearch => ({
    ...texts(search, ['name', 'channel']),
    ...(search['deleted'] === true ? { deleted: true } : {}),
  }),
  component: lazyRouteComponent(() => import('./templates-page.tsx'), 'TemplatesPage'),
});

export const newTemplateRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/templates/new',
  component: lazyRouteComponent(() => import('./new-template-page.tsx'), 'NewTemplatePage'),
});

export const templateRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/templates/$template',
  component: lazyRouteComponent(() => import('./template-page.tsx'), 'TemplatePage'),
});

export const suppressionsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'messages/suppressions',
  validateSearch: (search): SuppressionsSearch => texts(search, ['channel', 'address', 'reason']),
  component: lazyRouteComponent(() => import('./suppressions-page.tsx'), 'SuppressionsPage'),
});

export const messageRoutes = [
  sendsRoute,
  templatesRoute,
  newTemplateRoute,
  templateRoute,
  suppressionsRoute,
] as const;

/** The texts of an address, and nothing else that somebody wrote into it. */
function texts<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const said = names.flatMap((name) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(said) as Partial<Record<Name, string>>;
}
