import { createRoute, createRouter, lazyRouteComponent, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { accountRoute } from './account/routes.ts';
import { campaignsRoute } from './campaigns/routes.ts';
import { contactRoutes } from './contacts/routes.ts';
import { deliverabilityRoute } from './deliverability/routes.ts';
import { homeRoute } from './home/routes.ts';
import { importsRoute } from './imports/routes.ts';
import { listsRoute } from './lists/routes.ts';
import { earlierEventsRoute, eventsRoute } from './live-events/routes.ts';
import { objectRoutes } from './objects/routes.ts';
import { organizationAreaRoutes } from './organization/routes.ts';
import { loyaltyRoutes } from './loyalty/routes.ts';
import { messageRoutes } from './messages/routes.ts';
import { privacyRoute } from './privacy/routes.ts';
import { senderDomainsRoute } from './sender-domains/routes.ts';
import { segmentRoutes } from './segments/routes.ts';
import { attributesRoute } from './attributes/routes.ts';
import { auditRoute } from './audit/routes.ts';
import { developerRoutes } from './developers/routes.ts';
import { usePerson } from './session/use-session.tsx';
import { organizationRoute, rootRoute } from './routes/organization-route.ts';
import { OrganizationFrame } from './shell/frame.tsx';
import { NotFound } from './shell/not-found.tsx';
import { PageFailure } from './ui/page-failure.tsx';

/** The address without an organization: to the one that one signed in to. */
function ToOrganization(): ReactNode {
  const { organization } = usePerson();
  return <Navigate to="/o/$organization" params={{ organization: organization.slug }} replace />;
}

const start = ['/', '/callback'].map((path) =>
  createRoute({ getParentRoute: () => rootRoute, path, component: ToOrganization }),
);

const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./invitation/invitation-page.tsx'), 'InvitationPage'),
});

// Pages know their routes, so the frame, which knows pages, is told to the routes here.
rootRoute.update({ notFoundComponent: NotFound });
organizationRoute.update({ component: OrganizationFrame, notFoundComponent: NotFound });

const routeTree = rootRoute.addChildren([
  ...start,
  invitationRoute,
  organizationRoute.addChildren([
    homeRoute,
    accountRoute,
    ...contactRoutes,
    listsRoute,
    importsRoute,
    ...segmentRoutes,
    ...objectRoutes,
    attributesRoute,
    eventsRoute,
    earlierEventsRoute,
    developerRoutes,
    auditRoute,
    organizationAreaRoutes,
    ...messageRoutes,
    campaignsRoute,
    deliverabilityRoute,
    senderDomainsRoute,
    ...loyaltyRoutes,
    privacyRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  // What a page does not know of its address goes no further: not into its filters, nor to the API.
  search: { strict: true },
  // What was typed, or read aloud, of one thing is never on the page of another.
  defaultRemountDeps: ({ params }) => params,
  // Of each page by itself: the menu stays.
  defaultErrorComponent: PageFailure,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
