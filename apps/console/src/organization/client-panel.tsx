import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Section } from '../ui/page.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { ResourcePanel } from '../ui/resource-panel.tsx';
import { StoredForm } from '../ui/stored-form.tsx';
import { bodyOf, draftOf, type ClientChange, type OAuthClient } from './client.ts';
import { ClientFields } from './client-fields.tsx';
import { Explain } from './explain.tsx';
import { Removal } from './removal.tsx';
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
  const read = useOwnQuery({
    queryKey: ['organization', 'client', id],
    queryFn: ({ signal }) => api.GET('/v1/identity/oauth-clients/{id}', { params: { path: { id } }, signal }),
  });
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.name ?? t('parts.clients')}
      onClose={onClose}
      shown={(opened) => (
        <>
          <Details>
            <Detail name={t('clientId')}>
              <Id value={id} />
            </Detail>
            <Detail name={t('type')}>{t(`clientTypes.${opened.data.type}`)}</Detail>
          </Details>
          <Steps client={opened.data} onSecret={onSecret} onGone={onClose} />
          {opened.data.deleted_at === null && <ClientForm opened={opened} />}
          {opened.data.role_id !== null && may('identity.roles.read') && (
            <Section title={t('explain')}>
              <Explain principal={{ type: 'oauth_client', id }} />
            </Section>
          )}
        </>
      )}
    />
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
    change: bodyOf(draft),
    read: () => api.GET('/v1/identity/oauth-clients/{id}', { params }),
    write: (body, ifMatch) => api.PATCH('/v1/identity/oauth-clients/{id}', { params, body, ifMatch }),
    onSaved: () => undefined,
    onTheirs: (now) => setDraft(draftOf(now)),
    done: t('clientSaved'),
  });
  return (
    <StoredForm mayChange={may('identity.oauth_clients.update')} edit={edit} action={t('save')}>
      <ClientFields draft={draft} set={(more) => setDraft({ ...draft, ...more })} error={edit.error} />
    </StoredForm>
  );
}

interface StepsProps {
  client: OAuthClient;
  onSecret: PanelProps['onSecret'];
  onGone: () => void;
}

function Steps({ client: { id, name, type, deleted_at }, onSecret, onGone }: StepsProps): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const acts = useActs();
  const params = { path: { id } };
  const rotate = {
    run: async () => {
      const body = { rotate_secret: true };
      const { data } = await api.PATCH('/v1/identity/oauth-clients/{id}', { params, body });
      onSecret(data.client_secret ?? null);
    },
    done: t('secretRotated'),
    title: t('rotateSecret'),
    lead: t('rotateSecretLead'),
    action: t('rotateSecret'),
  };
  return (
    <>
      <div className="flex flex-wrap gap-2">
        {deleted_at === null && type === 'confidential' && may('identity.oauth_clients.update') && (
          <Button onClick={() => acts.ask(rotate)}>{t('rotateSecret')}</Button>
        )}
        <Removal
          name={name}
          deleted={deleted_at !== null}
          acts={acts}
          title={t('deleteClient', { name })}
          lead={t('deleteClientLead')}
          mayDelete={may('identity.oauth_clients.delete')}
          mayPurge={may('identity.oauth_clients.purge')}
          remove={() => api.DELETE('/v1/identity/oauth-clients/{id}', { params })}
          restore={() => api.POST('/v1/identity/oauth-clients/{id}/restore', { params })}
          purge={() => api.DELETE('/v1/identity/oauth-clients/{id}/purge', { params })}
          onGone={onGone}
        />
      </div>
      {acts.shown}
    </>
  );
}
