import { useQueryClient } from '@tanstack/react-query';
import { CatchBoundary } from '@tanstack/react-router';
import { LogIn } from 'lucide-react';
import { Fragment, lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ApiProvider } from '../api/api.tsx';
import { Speaking } from '../i18n/language.tsx';
import { PageFailure } from '../ui/page-failure.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { answersAgain } from '../session/answers-again.ts';
import { INVITATION } from '../session/session.ts';
import { languageOf } from '../session/person.ts';
import { useSession, useSessionState } from '../session/use-session.tsx';

const InvitationPage = lazy(async () => ({
  default: (await import('../invitation/invitation-page.tsx')).InvitationPage,
}));

/** Lets in who is signed in; says to all others where they stand and what the way on is. */
export function Gate({ children }: { children: ReactNode }): ReactNode {
  const session = useSession();
  const state = useSessionState();
  if (state.kind === 'starting') return null;
  if (state.kind !== 'signed-in') {
    return (
      <Speaking language={languageOf(navigator.language)}>
        {window.location.pathname === INVITATION && state.kind === 'signed-out' ? (
          <CatchBoundary getResetKey={() => INVITATION} errorComponent={PageFailure}>
            <Suspense>
              <InvitationPage />
            </Suspense>
          </CatchBoundary>
        ) : (
          <Outside state={state} />
        )}
      </Speaking>
    );
  }
  const { person, ended } = state;
  return (
    <Speaking language={person.locale}>
      {/* Nothing of one organization or person outlives the switch to another. */}
      <Fragment key={`${person.organization.id} ${person.id}`}>
        <ApiProvider session={session} organizationId={person.organization.id}>
          <Toasts>
            {children}
            <Ended open={ended} />
          </Toasts>
        </ApiProvider>
      </Fragment>
    </Speaking>
  );
}

type OutsideState = { kind: 'signed-out' } | { kind: 'refused'; code: string } | { kind: 'unreachable' };

function Outside({ state }: { state: OutsideState }): ReactNode {
  const t = useTranslations('shell');
  const session = useSession();
  const known = state.kind === 'refused' && (state.code === 'access_denied' || state.code === 'mfa_required');
  const said = {
    'signed-out': [t('signedOut'), t('signedOutLead')],
    refused: [t('refused'), known ? t(`refusedBy.${state.code as 'access_denied'}`) : t('refusedBy.other')],
    unreachable: [t('unreachable'), t('unreachableLead')],
  } as const;
  const [title, lead] = said[state.kind];
  useForgetting(title);
  useReload(state.kind === 'unreachable');
  const again = (): void => {
    if (state.kind === 'unreachable') window.location.reload();
    else void session.signIn('/console/');
  };
  return (
    <main className="grid min-h-full place-items-center bg-ground p-4">
      <div className="flex w-full max-w-sm flex-col gap-3 rounded-panel border border-line bg-raised p-8">
        <h1 className="text-xl font-[650]">{title}</h1>
        <p className="text-soft">{lead}</p>
        <Button look="main" onClick={again} className="mt-3">
          <LogIn aria-hidden className="size-4" />
          {state.kind === 'unreachable' ? t('tryAgain') : t('signIn')}
        </Button>
      </div>
    </main>
  );
}

/** Loads the page anew once the platform answers again: it may just have been starting. */
function useReload(isAway: boolean): void {
  useEffect(() => {
    if (!isAway) return undefined;
    const page = new AbortController();
    void answersAgain(page.signal).then((isBack) => isBack && window.location.reload());
    return () => page.abort();
  }, [isAway]);
}

/** Neither the tab's name nor its memory tells what was seen before. */
function useForgetting(title: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    queries.clear();
  }, [queries]);
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
}

/** The page stays as it is below: what was written there is not lost. */
function Ended({ open }: { open: boolean }): ReactNode {
  const t = useTranslations('shell');
  const session = useSession();
  const [failed, setFailed] = useState(false);
  const again = async (): Promise<void> => {
    try {
      await session.signInAgain();
      setFailed(false);
    } catch (error) {
      setFailed(error instanceof Error);
    }
  };
  return (
    <Dialog isUrgent open={open} title={t('ended')} lead={t('endedLead')}>
      {failed && <p role="alert">{t('endedFailed')}</p>}
      <Button look="main" onClick={() => void again()}>
        {t('signIn')}
      </Button>
    </Dialog>
  );
}
