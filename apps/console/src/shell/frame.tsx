import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { usePerson, useSession } from '../session/use-session.tsx';
import { NotFound } from './not-found.tsx';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** Every page is one of an organization, which its address names: a link shows the same to a colleague. */
export const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'o/$organization',
  component: OrganizationFrame,
});

function OrganizationFrame(): ReactNode {
  const { organization: slug } = organizationRoute.useParams();
  const { organization } = usePerson();
  const session = useSession();
  const elsewhere = slug !== organization.slug;
  // An address of another organization, typed or gone back to: one is signed in there, or told why not.
  useEffect(() => {
    if (elsewhere) void session.switchTo(slug, window.location.pathname + window.location.search);
  }, [elsewhere, session, slug]);
  return elsewhere ? null : <Shell />;
}
