import type { Schemas } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { ActorFilter } from '../actors/actor-filter.tsx';
import { Actor } from '../people/person.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden, NothingMatches } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { useReadAnew } from '../ui/queries.ts';
import { Time } from '../ui/time.tsx';
import { useSay } from '../ui/toasts.tsx';
import { AddSuppression } from './add-suppression.tsx';
import { MessageTabs } from './message-tabs.tsx';
import type { SuppressionsSearch } from './search-params.ts';
import { CHANNELS, SUPPRESSION_REASONS } from './vocabulary.ts';

const suppressionsRoute = getRouteApi('/o/$organization/messages/suppressions');

type Suppression = Schemas['SuppressionDto'];

/** Addresses that nothing is sent to. */
export function SuppressionsPage(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  if (!may('messaging.suppressions.read')) return <Forbidden permission="messaging.suppressions.read" />;
  return (
    <Page
      title={t('suppressions')}
      lead={t('suppressionsLead')}
      actions={may('messaging.suppressions.create') && <AddSuppression />}
    >
      <MessageTabs />
      <SuppressionFilters />
      <SuppressionTable />
    </Page>
  );
}

function SuppressionFilters(): ReactNode {
  const t = useTranslations('messages');
  const navigate = suppressionsRoute.useNavigate();
  const search = suppressionsRoute.useSearch();
  const filter = (changed: SuppressionsSearch): void =>
    void navigate({ search: { ...search, ...changed }, replace: true });
  return (
    <Filters>
      <SearchField
        main
        label={t('address')}
        value={search.address ?? ''}
        onChange={(address) => filter({ address })}
      />
      <FilterSelect
        label={t('channel')}
        value={search.channel}
        onChange={(channel = '') => filter({ channel })}
        options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
      />
      <FilterSelect
        label={t('reason')}
        value={search.reason}
        onChange={(reason = '') => filter({ reason })}
        options={SUPPRESSION_REASONS.map((value) => ({ value, label: t(`suppressionReasons.${value}`) }))}
      />
      <Lifted
        lifted={search.lifted === 'true'}
        by={search.lifted_by}
        onChange={(lifted, by = '') => filter({ lifted: lifted ? 'true' : '', lifted_by: lifted ? by : '' })}
      />
    </Filters>
  );
}

interface LiftedProps {
  lifted: boolean;
  by: string | undefined;
  onChange: (lifted: boolean, by?: string) => void;
}

/** Those that stand, or those that were removed, and by whom. */
function Lifted({ lifted, by, onChange }: LiftedProps): ReactNode {
  const t = useTranslations('messages');
  return (
    <>
      <label className="flex max-w-full items-center gap-2">
        <span className="shrink-0 text-xs text-soft">{t('suppressionState')}</span>
        <select
          className="field w-auto! min-w-0"
          value={lifted ? 'lifted' : 'standing'}
          onChange={({ target }) => onChange(target.value === 'lifted')}
        >
          <option value="standing">{t('suppressionStates.standing')}</option>
          <option value="lifted">{t('suppressionStates.lifted')}</option>
        </select>
      </label>
      {lifted && <ActorFilter label={t('liftedBy')} value={by} onChange={(id) => onChange(true, id)} />}
    </>
  );
}

function SuppressionTable(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const api = useApi();
  const search = suppressionsRoute.useSearch();
  const [lifted, setLifted] = useState<Suppression>();
  const list = useList<Suppression>(['messages', 'suppressions', search], async (cursor, signal) => {
    const said = Object.entries(search).filter(([, value]) => value !== '');
    const query = {
      ...Object.fromEntries(said),
      ...(search.lifted === 'true' ? { sort: '-lifted_at' } : {}),
      ...(cursor === undefined ? {} : { cursor }),
    } as Record<string, never>;
    return (await api.GET('/v1/messaging/suppressions', { params: { query }, signal })).data;
  });
  const isLifted = search.lifted === 'true';
  const columns = useColumns(
    isLifted,
    !isLifted && may('messaging.suppressions.delete') ? setLifted : undefined,
  );
  return (
    <>
      <DataTable
        label={t('suppressions')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          Object.values(search).some((value) => value !== '') ? (
            <NothingMatches />
          ) : (
            <Empty title={t('noSuppressions')}>{t('noSuppressionsLead')}</Empty>
          )
        }
      />
      <Lift suppression={lifted} onClose={() => setLifted(undefined)} />
    </>
  );
}

function useColumns(
  isLifted: boolean,
  onLift: ((suppression: Suppression) => void) | undefined,
): Column<Suppression>[] {
  const t = useTranslations('messages');
  return [
    { id: 'address', header: t('address'), cell: ({ address }) => address ?? t('erasedAddress') },
    { id: 'scope', header: t('scope'), cell: ({ scope }) => t(`scopes.${scope}`) },
    { id: 'channel', header: t('channel'), cell: ({ channel }) => t(`channels.${channel}`) },
    { id: 'reason', header: t('reason'), cell: ({ reason }) => t(`suppressionReasons.${reason}`) },
    { id: 'note', header: t('note'), cell: ({ note }) => note ?? '' },
    { id: 'since', header: t('since'), cell: ({ created_at: at }) => <Time at={at} /> },
    ...(isLifted ? LIFTED_COLUMNS.map((id) => ({ id, header: t(id), cell: LIFTED_CELLS[id] })) : []),
    ...(onLift === undefined
      ? []
      : [
          {
            id: 'lift',
            header: t('lift'),
            cell: (suppression: Suppression) => (
              <Button look="quiet" onClick={() => onLift(suppression)}>
                {t('lift')}
              </Button>
            ),
          },
        ]),
  ];
}

const LIFTED_COLUMNS = ['liftedAt', 'liftedBy'] as const;
const LIFTED_CELLS: Record<(typeof LIFTED_COLUMNS)[number], Column<Suppression>['cell']> = {
  liftedAt: ({ lifted_at: at }) => at !== null && <Time at={at} />,
  liftedBy: ({ lifted_by: by }) => by !== null && <Actor type={by['type'] ?? ''} id={by['id'] ?? ''} />,
};

function Lift({
  suppression,
  onClose,
}: {
  suppression: Suppression | undefined;
  onClose: () => void;
}): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const changed = useReadAnew('messages', 'suppressions');
  const say = useSay();
  const address = suppression?.address ?? t('erasedAddress');
  const lift = useMutation({
    mutationFn: (id: string) => api.DELETE('/v1/messaging/suppressions/{id}', { params: { path: { id } } }),
    onSuccess: async () => {
      await changed();
      say(t('liftedSaid', { address }));
      onClose();
    },
  });
  return (
    <Confirm
      open={suppression !== undefined}
      onClose={() => {
        lift.reset();
        onClose();
      }}
      title={t('liftTitle', { address })}
      action={t('lift')}
      danger
      busy={lift.isPending}
      error={lift.error}
      onConfirm={() => suppression && lift.mutate(suppression.id)}
    >
      {suppression !== undefined && (
        <>
          <p>{t('liftLead', { reason: t(`suppressionReasons.${suppression.reason}`) })}</p>
          <p className="mt-2">{t('liftAudited')}</p>
        </>
      )}
    </Confirm>
  );
}
