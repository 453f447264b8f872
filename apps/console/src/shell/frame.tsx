import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { usePerson, useSession } from '../session/use-session.tsx';
import { NotFound } from './not-found.tsx';
import { Shell } from './shell.tsx';

const Restricted = lazy(async () => ({
  default: (await import('../account/restricted.tsx')).Restricted,
}));

export const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** Every page is one of an organization, which its address names: a link shows the same to a colleague. */
export const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'o/$organization',
  component: OrganizationFrame,
  notFoundComponent: NotFound,
});

function OrganizationFrame(): ReactNode {
  const { organization: slug } = organizationRoute.useParams();
  const { organization, restriction } = usePerson();
  // Stays until its page says so: what it shows once must not go by itself when the rights are read again.
  const [held, setHeld] = useState(false);
  if (restriction === 'mfa_required' && !held) setHeld(true);
  const session = useSession();
  const elsewhere = slug !== organization.slug;
  // An address of another organization, typed or gone back to: one is signed in there, or told why not.
  useEffect(() => {
    if (elsewhere) void session.switchTo(slug, window.location.pathname + window.location.search);
  }, [elsewhere, session, slug]);
  if (elsewhere) return null;
  if (!held && restriction === null) return <Shell />;
  return (
    <Suspense>
      <Restricted onLifted={() => setHeld(false)} />
    </Suspense>
  );
}
