import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Section } from '../ui/page.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { ResourcePanel } from '../ui/resource-panel.tsx';
import { Removal } from './removal.tsx';
import { SettingsForm } from './settings-form.tsx';
import type { OrganizationRow } from './settings.ts';
import { useActs } from './use-acts.tsx';

/** An organization below this one: its settings, and whether it may work. */
export function ChildPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const read = useOwnQuery({
    queryKey: ['organization', 'child', id],
    queryFn: ({ signal }) => api.GET('/v1/identity/organizations/{id}', { params: { path: { id } }, signal }),
  });
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.name ?? t('parts.children')}
      onClose={onClose}
      shown={(opened) => (
        <>
          <Details>
            <Detail name={t('slug')}>
              <Id value={opened.data.slug} />
            </Detail>
            <Detail name={t('id')}>
              <Id value={opened.data.id} />
            </Detail>
          </Details>
          <Section title={t('whatToDo')}>
            <Steps child={opened.data} onGone={onClose} />
          </Section>
          {opened.data.deleted_at === null && <SettingsForm opened={opened} fromAbove />}
        </>
      )}
    />
  );
}

function Steps({ child, onGone }: { child: OrganizationRow; onGone: () => void }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const acts = useActs();
  const { id, name, status, deleted_at } = child;
  const params = { path: { id } };
  const become = (to: OrganizationRow['status']) => () =>
    api.PATCH('/v1/identity/organizations/{id}', { params, body: { status: to } });
  const reactivate = { run: become('active'), done: t('childReactivated') };
  const suspend = {
    run: become('suspended'),
    done: t('childSuspended'),
    undo: reactivate,
    title: t('suspendChild', { name }),
    lead: t('suspendChildLead'),
    action: t('suspend'),
  };
  const update = deleted_at === null && may('identity.organizations.update');
  return (
    <>
      <div className="flex flex-wrap gap-2">
        {update && status === 'active' && <Button onClick={() => acts.ask(suspend)}>{t('suspend')}</Button>}
        {update && status === 'suspended' && (
          <Button busy={acts.busy} onClick={() => acts.act(reactivate)}>
            {t('reactivate')}
          </Button>
        )}
        <Removal
          name={name}
          deleted={deleted_at !== null}
          acts={acts}
          title={t('deleteChild', { name })}
          lead={t('deleteChildLead')}
          mayDelete={may('identity.organizations.delete')}
          mayPurge={may('identity.organizations.purge')}
          remove={() => api.DELETE('/v1/identity/organizations/{id}', { params })}
          restore={() => api.POST('/v1/identity/organizations/{id}/restore', { params })}
          purge={() => api.DELETE('/v1/identity/organizations/{id}/purge', { params })}
          onGone={onGone}
        />
      </div>
      {acts.shown}
    </>
  );
}
