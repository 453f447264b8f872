import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Button } from '../../ui/button.tsx';
import { Filters, FilterSelect } from '../../ui/filters.tsx';
import { useList } from '../../ui/list.ts';
import { Empty, Failure, Forbidden } from '../../ui/notices.tsx';
import { useOwnQuery } from '../../ui/queries.ts';
import type { Activity, ActivityType } from './activity.ts';
import { ActivityCard } from './activity-card.tsx';
import { ActivityForm } from './activity-form.tsx';

const FROM = '/o/$organization/contacts/$contactId/activities' as const;
const PAGE = 50;
const TYPES = 200;
const STATUSES = ['open', 'completed', 'cancelled'] as const;

/** What staff plan with a contact, and what came of it. */
export function ActivitiesPage(): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { contactId } = useParams({ from: FROM });
  const { status, form } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const types = useTypes();
  if (!may('crm.activities.read')) return <Forbidden permission="crm.activities.read" />;
  const change = (changed: { status?: Activity['status'] | undefined; form?: true | undefined }): void => {
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true, resetScroll: false });
  };
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <Filters>
          <FilterSelect
            label={t('activities.status')}
            value={status}
            onChange={(value) => change({ status: STATUSES.find((each) => each === value) })}
            options={STATUSES.map((value) => ({ value, label: t(`activities.statuses.${value}`) }))}
          />
        </Filters>
        {may('crm.activities.create') && (types?.length ?? 0) > 0 && (
          <Button look="main" onClick={() => change({ form: true })}>
            <Plus aria-hidden className="size-4" />
            {t('activities.plan')}
          </Button>
        )}
      </div>
      <Planned contactId={contactId} status={status} types={types ?? []} />
      {types !== undefined && (
        <ActivityForm
          contactId={contactId}
          types={types.filter(({ deleted_at }) => deleted_at === null)}
          open={form === true}
          onClose={() => change({ form: undefined })}
        />
      )}
    </div>
  );
}

interface PlannedProps {
  contactId: string;
  status: Activity['status'] | undefined;
  types: readonly ActivityType[];
}

function Planned({ contactId, status, types }: PlannedProps): ReactNode {
  const t = useTranslations('contacts');
  const ui = useTranslations('ui');
  const api = useApi();
  const list = useList(['contacts', contactId, 'activities', { status }], async (cursor, signal) => {
    const query = {
      contact_id: contactId,
      limit: PAGE,
      ...(status === undefined ? {} : { status }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    return (await api.GET('/v1/crm/activities', { params: { query }, signal })).data;
  });
  if (list.error != null && list.items.length === 0) return <Failure error={list.error} again={list.again} />;
  if (list.loading) return <div aria-busy className="bones h-24" />;
  if (list.items.length === 0) return <Empty title={t('activities.none')}>{t('activities.noneLead')}</Empty>;
  return (
    <ul aria-label={t('parts.activities')} className="flex flex-col gap-3">
      {list.items.map((activity) => (
        <li key={activity.id}>
          <ActivityCard
            activity={activity}
            type={types.find(({ id }) => id === activity.type_id)}
            contactId={contactId}
          />
        </li>
      ))}
      {list.hasMore && (
        <li>
          <Button look="quiet" busy={list.loadingMore} onClick={list.more}>
            {ui('more')}
          </Button>
        </li>
      )}
    </ul>
  );
}

function useTypes(): ActivityType[] | undefined {
  const api = useApi();
  const may = useMay();
  const { data } = useOwnQuery({
    queryKey: ['activity-types'],
    enabled: may('crm.activity_types.read'),
    queryFn: async ({ signal }) => {
      const query = { limit: TYPES, include_deleted: true };
      return (await api.GET('/v1/crm/activity-types', { params: { query }, signal })).data.data;
    },
  });
  return data;
}
