import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { Panel, Section } from '../ui/page.tsx';
import { bodyOf, draftOf, type Connection, type ConnectionChange } from './connection.ts';
import { ConnectionFields } from './connection-fields.tsx';
import { CONNECTION_TONES } from './tones.ts';
import { useActs } from './use-acts.tsx';
import { useEdit, type Reading } from './use-edit.tsx';

export function ConnectionPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const { organization } = usePerson();
  const { data, error, refetch } = useQuery({
    queryKey: [organization.id, 'organization', 'connection', id],
    queryFn: ({ signal }) =>
      api.GET('/v1/identity/sso-connections/{id}', { params: { path: { id } }, signal }),
  });
  const connection = data?.data;
  return (
    <Dialog open onClose={onClose} place="side" title={connection?.name ?? t('parts.sso')}>
      {error !== null && data === undefined && <Failure error={error} again={() => void refetch()} />}
      {error === null && data === undefined && <div aria-busy className="bones h-64" />}
      {data !== undefined && connection !== undefined && (
        <>
          <Details>
            <Detail name={t('status')}>
              {connection.deleted_at === null ? (
                <Badge tone={CONNECTION_TONES[connection.status] ?? 'neutral'}>
                  {t(`connectionStatus.${connection.status}`)}
                </Badge>
              ) : (
                <Badge>{t('deleted')}</Badge>
              )}
            </Detail>
            <Detail name={t('redirectUri')}>
              <Id value={connection.redirect_uri} />
              <p className="text-xs text-soft">{t('redirectUriLead')}</p>
            </Detail>
          </Details>
          <Proofs connection={connection} />
          <Steps connection={connection} onGone={onClose} />
          {connection.deleted_at === null && (
            <Section title={t('settings')}>
              <ConnectionForm opened={data} />
            </Section>
          )}
        </>
      )}
    </Dialog>
  );
}

/** As DNS calls it. */
const RECORD_TYPE = 'TXT';

/** The records that prove that each domain is the organization's. */
function Proofs({ connection }: { connection: Connection }): ReactNode {
  const t = useTranslations('organization');
  return (
    <Section title={t('proofs')} lead={t('proofsLead')}>
      {connection.domain_proofs.map(({ domain, name, value }) => (
        <Panel key={domain} label={domain}>
          <Details>
            <Detail name={t('domain')}>{domain}</Detail>
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
    read: () => api.GET('/v1/identity/sso-connections/{id}', { params }),
    write: (body, ifMatch) => api.PATCH('/v1/identity/sso-connections/{id}', { params, body, ifMatch }),
    onSaved: () => setDraft((written) => ({ ...written, clientSecret: '' })),
    onTheirs: (now) => setDraft(draftOf(now)),
    done: t('connectionSaved'),
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    edit.save(bodyOf(draft));
  };
  const mayUpdate = may('identity.sso.update');
  return (
    <form onSubmit={send} className="flex flex-col gap-4">
      <fieldset disabled={!mayUpdate} className="contents">
        <ConnectionFields draft={draft} set={(more) => setDraft({ ...draft, ...more })} error={edit.error} />
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

function Steps({ connection, onGone }: { connection: Connection; onGone: () => void }): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { act, ask, busy, shown } = useActs();
  const steps = useConnectionSteps(connection, onGone);
  const live = connection.deleted_at === null;
  const update = live && may('identity.sso.update');
  return (
    <>
      <div className="flex flex-wrap gap-2">
        {update && connection.status !== 'active' && (
          <Button look="main" busy={busy} onClick={() => act(steps.activate)}>
            {t('activate')}
          </Button>
        )}
        {update && connection.status === 'active' && (
          <Button onClick={() => ask(steps.switchOff)}>{t('switchOff')}</Button>
        )}
        {live && may('identity.sso.delete') && (
          <Button look="danger" onClick={() => ask(steps.remove)}>
            {t('delete')}
          </Button>
        )}
        {!live && may('identity.sso.delete') && (
          <Button busy={busy} onClick={() => act(steps.restore)}>
            {t('restore')}
          </Button>
        )}
        {!live && may('identity.sso.purge') && (
          <Button look="danger" onClick={() => ask(steps.purge)}>
            {t('purge')}
          </Button>
        )}
      </div>
      {shown}
    </>
  );
}

function useConnectionSteps({ id, name }: Connection, onGone: () => void) {
  const t = useTranslations('organization');
  const api = useApi();
  const params = { path: { id } };
  const become = (status: 'active' | 'inactive') => () =>
    api.PATCH('/v1/identity/sso-connections/{id}', { params, body: { status } });
  const restore = {
    run: () => api.POST('/v1/identity/sso-connections/{id}/restore', { params }),
    done: t('restored'),
  };
  return {
    restore,
    activate: { run: become('active'), done: t('connectionActive') },
    switchOff: {
      run: become('inactive'),
      done: t('connectionOff'),
      title: t('switchOffTitle', { name }),
      lead: t('switchOffLead'),
      action: t('switchOff'),
    },
    remove: {
      run: () => api.DELETE('/v1/identity/sso-connections/{id}', { params }),
      done: t('deletedDone'),
      undo: restore,
      title: t('deleteConnection', { name }),
      lead: t('switchOffLead'),
      action: t('delete'),
    },
    purge: {
      run: () => api.DELETE('/v1/identity/sso-connections/{id}/purge', { params }).then(onGone),
      done: t('purged'),
      title: t('purgeTitle', { name }),
      lead: t('purgeLead'),
      action: t('purge'),
    },
  };
}
