import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { MessageTabs } from '../messages/message-tabs.tsx';
import { CHANNELS } from '../messages/vocabulary.ts';
import { useMay } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { DeletedFilter, ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import { doneOf, type Campaign } from './campaign.ts';
import { CAMPAIGN_SORTS, CAMPAIGN_STATES } from './vocabulary.ts';
import { CampaignStateBadge } from './campaign-state.tsx';
import type { CampaignsSearch } from './search-params.ts';

const campaignsRoute = getRouteApi('/o/$organization/messages/campaigns');
const NewCampaign = lazyPart(async () => (await import('./new-campaign.tsx')).NewCampaign);
const CampaignPanel = lazyPart(async () => (await import('./campaign-panel.tsx')).CampaignPanel);

/** One that runs is seen to go on. */
const READ_EVERY_MS = 5_000;

/** One message to everybody in a segment or on a list. */
export function CampaignsPage(): ReactNode {
  const t = useTranslations('campaigns');
  const may = useMay();
  const { open } = campaignsRoute.useSearch();
  if (!may('messaging.campaigns.read')) return <Forbidden permission="messaging.campaigns.read" />;
  return (
    <ListPage
      title={t('title')}
      lead={t('lead')}
      open={open}
      add={may('messaging.campaigns.create') && t('new')}
      form={(props) => <NewCampaign {...props} />}
      panel={(id, onClose) => <CampaignPanel key={id} id={id} onClose={onClose} />}
    >
      <MessageTabs />
      <CampaignFilters />
      <Campaigns />
    </ListPage>
  );
}

function CampaignFilters(): ReactNode {
  const t = useTranslations('campaigns');
  const words = useTranslations('messages');
  const { state, channel } = campaignsRoute.useSearch();
  const change = useChangeOf<CampaignsSearch>();
  return (
    <Filters>
      <FilterSelect
        label={t('state')}
        value={state}
        onChange={(value) => change({ state: CAMPAIGN_STATES.find((each) => each === value) }, true)}
        options={CAMPAIGN_STATES.map((value) => ({ value, label: t(`states.${value}`) }))}
      />
      <FilterSelect
        label={t('channel')}
        value={channel}
        onChange={(value) => change({ channel: CHANNELS.find((each) => each === value) }, true)}
        options={CHANNELS.map((value) => ({ value, label: words(`channels.${value}`) }))}
      />
      <DeletedFilter label={t('withDeleted')} />
    </Filters>
  );
}

function Campaigns(): ReactNode {
  const t = useTranslations('campaigns');
  const api = useApi();
  const change = useChangeOf<CampaignsSearch>();
  const { open, state, channel, deleted, sort } = campaignsRoute.useSearch();
  const list = useList<Campaign>(
    ['campaigns', 'list', state, channel, deleted, sort],
    async (cursor, signal) => {
      const query = { state, channel, include_deleted: deleted, sort, cursor };
      return (await api.GET('/v1/messaging/campaigns', { params: { query }, signal })).data;
    },
    { refetchInterval: READ_EVERY_MS },
  );
  return (
    <Rows
      label={t('title')}
      list={list}
      columns={useColumns()}
      open={open}
      sort={sort ?? '-created_at'}
      onSort={(next) => change({ sort: CAMPAIGN_SORTS.find((each) => each === next) }, true)}
      filtered={state !== undefined || channel !== undefined}
      empty={<Empty title={t('none')}>{t('noneLead')}</Empty>}
    />
  );
}

function useColumns(): Column<Campaign>[] {
  const t = useTranslations('campaigns');
  const words = useTranslations('messages');
  return [
    {
      id: 'name',
      header: t('name'),
      sort: 'name',
      cell: ({ name }) => <bdi className="font-medium">{name}</bdi>,
    },
    { id: 'state', header: t('state'), cell: (campaign) => <CampaignStateBadge campaign={campaign} /> },
    { id: 'channel', header: t('channel'), cell: ({ channel }) => words(`channels.${channel}`) },
    { id: 'audience', header: t('audience'), cell: ({ audience }) => t(`audienceTypes.${audience.type}`) },
    {
      id: 'done',
      header: t('done'),
      cell: ({ last_run: run }) => (run === null ? '' : t('doneOf', doneOf(run))),
    },
    {
      id: 'made',
      header: t('createdAt'),
      sort: 'created_at',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ];
}
