import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';

/** The route above all others; the router gives it what is shown where no page is. */
export const rootRoute = createRootRoute({ component: Outlet });

/**
 * The route above every page of an organization, which the address names: a link shows the same to a colleague. The router
 * gives it the frame around its pages.
 */
export const organizationRoute = createRoute({ getParentRoute: () => rootRoute, path: 'o/$organization' });
