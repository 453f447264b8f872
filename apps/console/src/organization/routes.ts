import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../shell/frame.tsx';

/** What the pages of the organization keep in the address. */
export interface AreaSearch {
  /** The beginning of a name, or a whole address. */
  q?: string;
  status?: string;
  kind?: string;
  sort?: string;
  /** The row that is open beside. */
  open?: string;
  /** The form for a new one is open. */
  create?: true;
  /** What is deleted is listed, too. */
  deleted?: true;
}

function searchOf(given: Record<string, unknown>): AreaSearch {
  const texts = ['q', 'status', 'kind', 'sort', 'open'] as const;
  const flags = ['create', 'deleted'] as const;
  return Object.fromEntries([
    ...texts.flatMap((name) =>
      typeof given[name] === 'string' && given[name] !== '' ? [[name, given[name]]] : [],
    ),
    ...flags.flatMap((name) => (given[name] === true ? [[name, true]] : [])),
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

export const childrenRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'children',
  component: lazyRouteComponent(() => import('./children-page.tsx'), 'ChildrenPage'),
});

const retentionRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'retention',
  component: lazyRouteComponent(() => import('./retention-page.tsx'), 'RetentionPage'),
});

export const peopleRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'people',
  component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
});

export const invitationsRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'invitations',
  component: lazyRouteComponent(() => import('./invitations-page.tsx'), 'InvitationsPage'),
});

export const rolesRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'roles',
  component: lazyRouteComponent(() => import('./roles-page.tsx'), 'RolesPage'),
});

/** `new` in place of an id: one that is being made. */
export const roleRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'roles/$role',
  component: lazyRouteComponent(() => import('./role-page.tsx'), 'RolePage'),
});

export const clientsRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'clients',
  component: lazyRouteComponent(() => import('./clients-page.tsx'), 'ClientsPage'),
});

export const ssoRoute = createRoute({
  getParentRoute: () => areaRoute,
  path: 'sso',
  component: lazyRouteComponent(() => import('./sso-page.tsx'), 'SsoPage'),
});

export const sessionsRoute = createRoute({
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
