import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Panel, Section } from '../ui/page.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { ResourcePanel } from '../ui/resource-panel.tsx';
import { StoredForm } from '../ui/stored-form.tsx';
import { bodyOf, draftOf, type Connection, type ConnectionChange } from './connection.ts';
import { ConnectionFields } from './connection-fields.tsx';
import { Removal } from './removal.tsx';
import { CONNECTION_TONES, PROOF_TONES } from './tones.ts';
import { useActs } from './use-acts.tsx';
import { useEdit, type Reading } from './use-edit.tsx';

export function ConnectionPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const read = useOwnQuery({
    queryKey: ['organization', 'connection', id],
    queryFn: ({ signal }) =>
      api.GET('/v1/identity/sso-connections/{id}', { params: { path: { id } }, signal }),
  });
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.name ?? t('parts.sso')}
      onClose={onClose}
      shown={(opened) => (
        <>
          <Details>
            <Detail name={t('status')}>
              <ConnectionStatus connection={opened.data} />
            </Detail>
            <Detail name={t('redirectUri')}>
              <Id value={opened.data.redirect_uri} />
              <p className="text-xs text-soft">{t('redirectUriLead')}</p>
            </Detail>
          </Details>
          <Proofs connection={opened.data} />
          <Steps connection={opened.data} onGone={onClose} />
          {opened.data.deleted_at === null && (
            <Section title={t('settings')}>
              <ConnectionForm opened={opened} />
            </Section>
          )}
        </>
      )}
    />
  );
}

/** How it is, or that it is deleted. */
function ConnectionStatus({ connection }: { connection: Connection }): ReactNode {
  const t = useTranslations('organization');
  const { status, deleted_at: deleted } = connection;
  if (deleted !== null) return <Badge>{t('deleted')}</Badge>;
  return <Badge tone={CONNECTION_TONES[status] ?? 'neutral'}>{t(`connectionStatus.${status}`)}</Badge>;
}

/** As DNS calls it. */
const RECORD_TYPE = 'TXT';

/** The records that prove that each domain is the organization's. */
function Proofs({ connection }: { connection: Connection }): ReactNode {
  const t = useTranslations('organization');
  return (
    <Section title={t('proofs')} lead={t('proofsLead')}>
      {connection.domain_proofs.map(({ domain, name, value, status }) => (
        <Panel key={domain} label={domain}>
          <Details>
            <Detail name={t('domain')}>{domain}</Detail>
            <Detail name={t('status')}>
              <Badge tone={PROOF_TONES[status] ?? 'neutral'}>{t(`proofStatus.${status}`)}</Badge>
            </Detail>
            <Detail name={t('recordType')}>{RECORD_TYPE}</Detail>
            <Detail name={t('recordName')}>
              <Id value={name} />
            </Detail>
            <Detail name={t('recordValue')}>
              <Id value={value} />
            </Detail>
          </Details>
        </Panel>
      ))}
    </Section>
  );
}

function ConnectionForm({ opened }: { opened: Reading<Connection> }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const [draft, setDraft] = useState(() => draftOf(opened.data));
  const params = { path: { id: opened.data.id } };
  const edit = useEdit<Connection, ConnectionChange>({
    opened,
    change: bodyOf(draft),
    read: () => api.GET('/v1/identity/sso-connections/{id}', { params }),
    write: (body, ifMatch) => api.PATCH('/v1/identity/sso-connections/{id}', { params, body, ifMatch }),
    onSaved: () => setDraft((written) => ({ ...written, clientSecret: '' })),
    onTheirs: (now) => setDraft(draftOf(now)),
    done: t('connectionSaved'),
  });
  return (
    <StoredForm mayChange={may('identity.sso.update')} edit={edit} action={t('save')}>
      <ConnectionFields draft={draft} set={(more) => setDraft({ ...draft, ...more })} error={edit.error} />
    </StoredForm>
  );
}

function Steps({ connection, onGone }: { connection: Connection; onGone: () => void }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const acts = useActs();
  const { id, name, status, deleted_at } = connection;
  const params = { path: { id } };
  const become = (to: 'active' | 'inactive') => () =>
    api.PATCH('/v1/identity/sso-connections/{id}', { params, body: { status: to } });
  const activate = { run: become('active'), done: t('connectionActive') };
  const switchOff = {
    run: become('inactive'),
    done: t('connectionOff'),
    title: t('switchOffTitle', { name }),
    lead: t('switchOffLead'),
    action: t('switchOff'),
  };
  const update = deleted_at === null && may('identity.sso.update');
  return (
    <>
      <div className="flex flex-wrap gap-2">
        {update && status !== 'active' && (
          <Button look="main" busy={acts.busy} onClick={() => acts.act(activate)}>
            {t('activate')}
          </Button>
        )}
        {update && status === 'active' && (
          <Button onClick={() => acts.ask(switchOff)}>{t('switchOff')}</Button>
        )}
        <Removal
          name={name}
          deleted={deleted_at !== null}
          acts={acts}
          title={t('deleteConnection', { name })}
          lead={t('switchOffLead')}
          mayDelete={may('identity.sso.delete')}
          mayPurge={may('identity.sso.purge')}
          remove={() => api.DELETE('/v1/identity/sso-connections/{id}', { params })}
          restore={() => api.POST('/v1/identity/sso-connections/{id}/restore', { params })}
          purge={() => api.DELETE('/v1/identity/sso-connections/{id}/purge', { params })}
          onGone={onGone}
        />
      </div>
      {acts.shown}
    </>
  );
}
