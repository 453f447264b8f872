import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { usePerson, useSession } from '../session/use-session.tsx';
import { useTranslations } from 'use-intl';
import { organizationRoute } from '../routes/organization-route.ts';
import { Failure } from '../ui/notices.tsx';
import { Shell } from './shell.tsx';

const Restricted = lazy(async () => ({
  default: (await import('./restricted.tsx')).Restricted,
}));

/** Draws the frame around every page of an organization, or asks for the factor that must be set up first. */
export function OrganizationFrame(): ReactNode {
  const { organization: slug } = organizationRoute.useParams();
  const { organization, restriction } = usePerson();
  // Stays until its page says so: what it shows once must not go by itself when the rights are read again.
  const [held, setHeld] = useState(false);
  if (restriction === 'mfa_required' && !held) setHeld(true);
  const session = useSession();
  const elsewhere = slug !== organization.slug;
  // An address of another organization, typed or gone back to: one is signed in there, or told why not.
  const [refused, setRefused] = useState<{ slug: string; error: unknown }>();
  useEffect(() => {
    if (!elsewhere) return;
    const here = window.location.pathname + window.location.search;
    session.switchTo(slug, here).catch((error: unknown) => setRefused({ slug, error }));
  }, [elsewhere, session, slug]);
  if (elsewhere && refused?.slug === slug) return <Elsewhere error={refused.error} />;
  if (elsewhere) return null;
  if (!held && restriction === null) return <Shell />;
  return (
    <Suspense>
      <Restricted onLifted={() => setHeld(false)} />
    </Suspense>
  );
}

/** Not a member of the organization that the address names, or it cannot be asked now. */
function Elsewhere({ error }: { error: unknown }): ReactNode {
  const t = useTranslations('shell');
  const isRefused = error instanceof Error && 'error' in error;
  return (
    <main className="mx-auto flex max-w-md flex-col gap-4 px-4 py-24">
      <h1 className="text-xl font-[650]">{t('elsewhere')}</h1>
      {isRefused ? <p className="text-soft">{t('elsewhereLead')}</p> : <Failure error={error} />}
      <Link to="/" className="text-accent underline">
        {t('toHome')}
      </Link>
    </main>
  );
}
