import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../routes/organization-route.ts';
import type { AreaSearch } from './search-params.ts';

function searchOf(given: Record<string, unknown>): AreaSearch {
  const texts = ['q', 'status', 'kind', 'sort', 'open'] as const;
  return Object.fromEntries([
    ...texts.flatMap((name) =>
      typeof given[name] === 'string' && given[name] !== '' ? [[name, given[name]]] : [],
    ),
    ...(given['deleted'] === true ? [['deleted', true]] : []),
    // As addresses had it before.
    ...(given['create'] === true ? [['open', 'new']] : []),
  ]) as AreaSearch;
}

const areaRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'organization',
  validateSearch: searchOf,
  component: lazyRouteComponent(() => import('./area.tsx'), 'Area'),
});

const settingsRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
});

const childrenRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'children',
  component: lazyRouteComponent(() => import('./children-page.tsx'), 'ChildrenPage'),
});

const retentionRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'retention',
  component: lazyRouteComponent(() => import('./retention-page.tsx'), 'RetentionPage'),
});

const peopleRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'people',
  component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
});

const invitationsRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'invitations',
  component: lazyRouteComponent(() => import('./invitations-page.tsx'), 'InvitationsPage'),
});

const rolesRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'roles',
  component: lazyRouteComponent(() => import('./roles-page.tsx'), 'RolesPage'),
});

/** `new` in place of an id: one that is being made. */
const roleRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'roles/$role',
  component: lazyRouteComponent(() => import('./role-page.tsx'), 'RolePage'),
});

const clientsRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'clients',
  component: lazyRouteComponent(() => import('./clients-page.tsx'), 'ClientsPage'),
});

const ssoRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'sso',
  component: lazyRouteComponent(() => import('./sso-page.tsx'), 'SsoPage'),
});

const sessionsRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'sessions',
  component: lazyRouteComponent(() => import('./sessions-page.tsx'), 'SessionsPage'),
});

export const organizationAreaRoutes = areaRoute.addChildren([
  settingsRoute,
  retentionRoute,
  childrenRoute,
  peopleRoute,
  invitationsRoute,
  rolesRoute,
  roleRoute,
  clientsRoute,
  ssoRoute,
  sessionsRoute,
]);
