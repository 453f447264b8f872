import { createClient, ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import type { Person } from '../session/person.ts';
import { useSession, useSessionState } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/form.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { proofOf } from './proof.ts';

const SHORTEST_PASSWORD = 15;

/** The link of an invitation: whoever has no account yet takes it with a name and a password of their own. */
export function InvitationPage(): ReactNode {
  const t = useTranslations('invitation');
  const token = tokenOf(window.location.hash);
  const state = useSessionState();
  return (
    <main className="grid min-h-full place-items-center bg-ground p-4">
      <div className="flex w-full max-w-md flex-col gap-4 rounded-panel border border-line bg-raised p-8">
        <h1 className="text-xl font-[650]">{t('title')}</h1>
        {token === '' && <Dead />}
        {token !== '' && state.kind === 'signed-in' && <Join token={token} person={state.person} />}
        {token !== '' && state.kind !== 'signed-in' && <Enter token={token} />}
      </div>
    </main>
  );
}

/** A new account. */
function Enter({ token }: { token: string }): ReactNode {
  const t = useTranslations('invitation');
  const session = useSession();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const accept = useMutation({
    mutationFn: () => {
      const api = createClient({ baseUrl: window.location.origin });
      return api.POST('/v1/identity/invitations/accept', { body: { token, name, password } });
    },
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    accept.mutate();
  };
  if (accept.isSuccess)
    return <Done roles={accept.data.data.role_ids} onGo={() => void session.signIn('/console/')} />;
  return (
    <form onSubmit={send} className="flex flex-col gap-4">
      <p className="text-soft">{t('lead')}</p>
      <TextField
        label={t('name')}
        autoComplete="name"
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={t('password')}
        hint={t('passwordHint', { shortest: SHORTEST_PASSWORD })}
        type="password"
        autoComplete="new-password"
        required
        minLength={SHORTEST_PASSWORD}
        maxLength={128}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      {accept.error !== null && <Refused error={accept.error} token={token} />}
      <Button type="submit" look="main" busy={accept.isPending}>
        {t('accept')}
      </Button>
    </form>
  );
}

/** One organization more for an account that is signed in. */
function Join({ token, person }: { token: string; person: Person }): ReactNode {
  const t = useTranslations('invitation');
  const session = useSession();
  const api = useApi();
  const accept = useMutation({
    mutationFn: () => api.POST('/v1/identity/invitations/accept', { body: { token, name: person.name } }),
  });
  if (accept.isSuccess)
    return <Done roles={accept.data.data.role_ids} onGo={() => void session.signIn('/console/')} />;
  return (
    <>
      <p className="text-soft">{t('joinLead', { email: person.email })}</p>
      {accept.error !== null && <Refused error={accept.error} token={token} />}
      <Button look="main" busy={accept.isPending} onClick={() => accept.mutate()}>
        {t('accept')}
      </Button>
    </>
  );
}

function Done({ roles, onGo }: { roles: readonly string[]; onGo: () => void }): ReactNode {
  const t = useTranslations('invitation');
  return (
    <>
      <Note tone="good">{t('done')}</Note>
      {roles.length === 0 && <Note tone="warn">{t('noRole')}</Note>}
      <Button look="main" onClick={onGo}>
        {t('signIn')}
      </Button>
    </>
  );
}

/** The fragment of the link: no server sees it. */
function tokenOf(hash: string): string {
  return new URLSearchParams(hash.slice(1)).get('token') ?? '';
}

/** Says what the link is good for no more, and leads to where one may be a member already. */
function Dead(): ReactNode {
  const t = useTranslations('invitation');
  const session = useSession();
  return (
    <Note tone="warn">
      <p className="mb-3">{t('dead')}</p>
      <Button onClick={() => void session.signIn('/console/')}>{t('signIn')}</Button>
    </Note>
  );
}

function Refused({ error, token }: { error: unknown; token: string }): ReactNode {
  const t = useTranslations('invitation');
  const session = useSession();
  const code = error instanceof ProblemError ? error.code : undefined;
  if (code === 'invalid_token' || code === 'token_expired') return <Dead />;
  if (code === 'sign_in_required' || code === 'account_exists') {
    return (
      <Note tone="warn">
        <p className="mb-3">{t('known')}</p>
        <Button onClick={() => void proofOf(token).then((proof) => session.signInToJoin(proof))}>
          {t('signIn')}
        </Button>
      </Note>
    );
  }
  return <Failure error={error} />;
}
