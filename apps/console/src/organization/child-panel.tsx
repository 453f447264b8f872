import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { SettingsForm } from './settings-form.tsx';
import type { OrganizationRow } from './settings.ts';
import { useActs } from './use-acts.tsx';

/** An organization below this one: its settings, and whether it may work. */
export function ChildPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const { organization } = usePerson();
  const { data, error, refetch } = useQuery({
    queryKey: [organization.id, 'organization', 'child', id],
    queryFn: ({ signal }) => api.GET('/v1/identity/organizations/{id}', { params: { path: { id } }, signal }),
  });
  return (
    <Dialog open onClose={onClose} place="side" title={data?.data.name ?? t('parts.children')}>
      {error !== null && data === undefined && <Failure error={error} again={() => void refetch()} />}
      {error === null && data === undefined && <div aria-busy className="bones h-64" />}
      {data !== undefined && (
        <>
          <Details>
            <Detail name={t('slug')}>
              <Id value={data.data.slug} />
            </Detail>
            <Detail name={t('id')}>
              <Id value={data.data.id} />
            </Detail>
          </Details>
          <Section title={t('whatToDo')}>
            <Steps child={data.data} onGone={onClose} />
          </Section>
          {data.data.deleted_at === null && <SettingsForm opened={data} fromAbove />}
        </>
      )}
    </Dialog>
  );
}

function Steps({ child, onGone }: { child: OrganizationRow; onGone: () => void }): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { act, ask, busy, shown } = useActs();
  const steps = useChildSteps(child.id);
  const named = { name: child.name };
  const live = child.deleted_at === null;
  return (
    <>
      <div className="flex flex-wrap gap-2">
        {live && child.status === 'active' && may('identity.organizations.update') && (
          <Button
            onClick={() =>
              ask({
                ...steps.suspend,
                title: t('suspendChild', named),
                lead: t('suspendChildLead'),
                action: t('suspend'),
              })
            }
          >
            {t('suspend')}
          </Button>
        )}
        {live && child.status === 'suspended' && may('identity.organizations.update') && (
          <Button busy={busy} onClick={() => act(steps.reactivate)}>
            {t('reactivate')}
          </Button>
        )}
        {live && may('identity.organizations.delete') && (
          <Button
            look="danger"
            onClick={() =>
              ask({
                ...steps.remove,
                title: t('deleteChild', named),
                lead: t('deleteChildLead'),
                action: t('delete'),
              })
            }
          >
            {t('delete')}
          </Button>
        )}
        {!live && may('identity.organizations.delete') && (
          <Button busy={busy} onClick={() => act(steps.restore)}>
            {t('restore')}
          </Button>
        )}
        {!live && may('identity.organizations.purge') && (
          <Button
            look="danger"
            onClick={() =>
              ask({
                ...steps.purge,
                run: () => steps.purge.run().then(onGone),
                title: t('purgeTitle', named),
                lead: t('purgeLead'),
                action: t('purge'),
              })
            }
          >
            {t('purge')}
          </Button>
        )}
      </div>
      {shown}
    </>
  );
}

function useChildSteps(id: string) {
  const t = useTranslations('organization');
  const api = useApi();
  const params = { path: { id } };
  const become = (status: OrganizationRow['status']) => () =>
    api.PATCH('/v1/identity/organizations/{id}', { params, body: { status } });
  const reactivate = { run: become('active'), done: t('childReactivated') };
  const restore = {
    run: () => api.POST('/v1/identity/organizations/{id}/restore', { params }),
    done: t('restored'),
  };
  return {
    reactivate,
    restore,
    suspend: { run: become('suspended'), done: t('childSuspended'), undo: reactivate },
    remove: {
      run: () => api.DELETE('/v1/identity/organizations/{id}', { params }),
      done: t('deletedDone'),
      undo: restore,
    },
    purge: { run: () => api.DELETE('/v1/identity/organizations/{id}/purge', { params }), done: t('purged') },
  };
}
