import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { bodyOf, draftOf, type ClientChange, type OAuthClient } from './client.ts';
import { ClientFields } from './client-fields.tsx';
import { Explain } from './explain.tsx';
import { useActs } from './use-acts.tsx';
import { useEdit, type Reading } from './use-edit.tsx';

interface PanelProps {
  id: string;
  onClose: () => void;
  /** Null where the answer that told it got lost. */
  onSecret: (secret: string | null) => void;
}

export function ClientPanel({ id, onClose, onSecret }: PanelProps): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  const { data, error, refetch } = useQuery({
    queryKey: [organization.id, 'organization', 'client', id],
    queryFn: ({ signal }) => api.GET('/v1/identity/oauth-clients/{id}', { params: { path: { id } }, signal }),
  });
  const client = data?.data;
  return (
    <Dialog open onClose={onClose} place="side" title={client?.name ?? t('parts.clients')}>
      {error !== null && data === undefined && <Failure error={error} again={() => void refetch()} />}
      {error === null && data === undefined && <div aria-busy className="bones h-64" />}
      {data !== undefined && client !== undefined && (
        <>
          <Details>
            <Detail name={t('clientId')}>
              <Id value={client.id} />
            </Detail>
            <Detail name={t('type')}>{t(`clientTypes.${client.type}`)}</Detail>
          </Details>
          <Steps client={client} onSecret={onSecret} onGone={onClose} />
          {client.deleted_at === null && <ClientForm opened={data} />}
          {client.role_id !== null && may('identity.roles.read') && (
            <Section title={t('explain')}>
              <Explain principal={{ type: 'oauth_client', id }} />
            </Section>
          )}
        </>
      )}
    </Dialog>
  );
}

function ClientForm({ opened }: { opened: Reading<OAuthClient> }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const [draft, setDraft] = useState(() => draftOf(opened.data));
  const params = { path: { id: opened.data.id } };
  const edit = useEdit<OAuthClient, ClientChange>({
    opened,
    read: () => api.GET('/v1/identity/oauth-clients/{id}', { params }),
    write: (body, ifMatch) => api.PATCH('/v1/identity/oauth-clients/{id}', { params, body, ifMatch }),
    onSaved: () => undefined,
    onTheirs: (now) => setDraft(draftOf(now)),
    done: t('clientSaved'),
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    edit.save(bodyOf(draft));
  };
  const mayUpdate = may('identity.oauth_clients.update');
  return (
    <form onSubmit={send} className="flex flex-col gap-4">
      <fieldset disabled={!mayUpdate} className="contents">
        <ClientFields draft={draft} set={(more) => setDraft({ ...draft, ...more })} error={edit.error} />
      </fieldset>
      {edit.shown}
      {mayUpdate && (
        <div>
          <Button type="submit" look="main" busy={edit.busy}>
            {t('save')}
          </Button>
        </div>
      )}
    </form>
  );
}

interface StepsProps {
  client: OAuthClient;
  onSecret: PanelProps['onSecret'];
  onGone: () => void;
}

function Steps({ client, onSecret, onGone }: StepsProps): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { act, ask, busy, shown } = useActs();
  const steps = useClientSteps(client, onSecret, onGone);
  const live = client.deleted_at === null;
  return (
    <>
      <div className="flex flex-wrap gap-2">
        {live && client.type === 'confidential' && may('identity.oauth_clients.update') && (
          <Button onClick={() => ask(steps.rotate)}>{t('rotateSecret')}</Button>
        )}
        {live && may('identity.oauth_clients.delete') && (
          <Button look="danger" onClick={() => ask(steps.remove)}>
            {t('delete')}
          </Button>
        )}
        {!live && may('identity.oauth_clients.delete') && (
          <Button busy={busy} onClick={() => act(steps.restore)}>
            {t('restore')}
          </Button>
        )}
        {!live && may('identity.oauth_clients.purge') && (
          <Button look="danger" onClick={() => ask(steps.purge)}>
            {t('purge')}
          </Button>
        )}
      </div>
      {shown}
    </>
  );
}

function useClientSteps({ id, name }: OAuthClient, onSecret: PanelProps['onSecret'], onGone: () => void) {
  const t = useTranslations('organization');
  const api = useApi();
  const params = { path: { id } };
  const restore = {
    run: () => api.POST('/v1/identity/oauth-clients/{id}/restore', { params }),
    done: t('restored'),
  };
  return {
    restore,
    rotate: {
      run: async () => {
        const body = { rotate_secret: true };
        const { data } = await api.PATCH('/v1/identity/oauth-clients/{id}', { params, body });
        onSecret(data.client_secret ?? null);
      },
      done: t('secretRotated'),
      title: t('rotateSecret'),
      lead: t('rotateSecretLead'),
      action: t('rotateSecret'),
    },
    remove: {
      run: () => api.DELETE('/v1/identity/oauth-clients/{id}', { params }),
      done: t('deletedDone'),
      undo: restore,
      title: t('deleteClient', { name }),
      lead: t('deleteClientLead'),
      action: t('delete'),
    },
    purge: {
      run: () => api.DELETE('/v1/identity/oauth-clients/{id}/purge', { params }).then(onGone),
      done: t('purged'),
      title: t('purgeTitle', { name }),
      lead: t('purgeLead'),
      action: t('purge'),
    },
  };
}
