import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { DeletedFilter, EnabledFilter, ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { MessageTabs } from './message-tabs.tsx';
import type { RoutingSearch } from './search-params.ts';
import type { RoutingRule } from './routing-draft.ts';
import { RoutingState } from './routing-state.tsx';
import { useTemplateNames } from './use-routing.ts';
import { CHANNELS, ROUTABLE_EVENTS } from './vocabulary.ts';

const routingRoute = getRouteApi('/o/$organization/messages/routing');
const NewRouting = lazyPart(async () => (await import('./new-routing.tsx')).NewRouting);
const RoutingPanel = lazyPart(async () => (await import('./routing-panel.tsx')).RoutingPanel);

/** Which events send which messages. */
export function RoutingPage(): ReactNode {
  const t = useTranslations('messages');
  const parts = useTranslations('message-parts');
  const may = useMay();
  const { open } = routingRoute.useSearch();
  if (!may('messaging.routing.read')) return <Forbidden permission="messaging.routing.read" />;
  return (
    <ListPage
      title={parts('parts.routing')}
      lead={t('routingLead')}
      open={open}
      add={may('messaging.routing.update') && t('newRouting')}
      form={(props) => <NewRouting {...props} />}
      panel={(id, onClose) => <RoutingPanel key={id} id={id} onClose={onClose} />}
    >
      <MessageTabs />
      <RoutingFilters />
      <Rules />
    </ListPage>
  );
}

function RoutingFilters(): ReactNode {
  const t = useTranslations('messages');
  const { event_type: type, channel } = routingRoute.useSearch();
  const change = useChangeOf<RoutingSearch>();
  return (
    <Filters>
      <FilterSelect
        label={t('eventType')}
        value={type}
        onChange={(value) => change({ event_type: ROUTABLE_EVENTS.find((each) => each === value) }, true)}
        options={ROUTABLE_EVENTS.map((value) => ({ value, label: value }))}
      />
      <FilterSelect
        label={t('channel')}
        value={channel}
        onChange={(value) => change({ channel: CHANNELS.find((each) => each === value) }, true)}
        options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
      />
      <EnabledFilter label={t('state')} on={t('on')} off={t('off')} />
      <DeletedFilter label={t('withDeleted')} />
    </Filters>
  );
}

function Rules(): ReactNode {
  const t = useTranslations('messages');
  const parts = useTranslations('message-parts');
  const api = useApi();
  const { open, event_type, channel, enabled, deleted } = routingRoute.useSearch();
  const list = useList<RoutingRule>(
    ['messages', 'routing', 'list', event_type, channel, enabled, deleted],
    async (cursor, signal) => {
      const query = {
        event_type,
        channel,
        enabled: enabled === undefined ? undefined : enabled === 'true',
        include_deleted: deleted,
        cursor,
      };
      return (await api.GET('/v1/messaging/event-routing', { params: { query }, signal })).data;
    },
  );
  const filtered = [event_type, channel, enabled].some((each) => each !== undefined);
  return (
    <Rows
      label={parts('parts.routing')}
      list={list}
      columns={useColumns(list.items)}
      open={open}
      filtered={filtered}
      empty={<Empty title={t('noRouting')}>{t('noRoutingLead')}</Empty>}
    />
  );
}

function useColumns(rules: readonly RoutingRule[]): Column<RoutingRule>[] {
  const t = useTranslations('messages');
  const templates = useTemplateNames(rules.map(({ template_id: id }) => id));
  return [
    { id: 'name', header: t('name'), cell: ({ name }) => <bdi className="font-medium">{name}</bdi> },
    { id: 'state', header: t('state'), cell: (rule) => <RoutingState rule={rule} /> },
    {
      id: 'event',
      header: t('event'),
      cell: ({ event_type: type, event_name: name }) => (
        <code className="font-mono text-xs" title={type}>
          {name ?? type}
        </code>
      ),
    },
    { id: 'channel', header: t('channel'), cell: ({ channel }) => t(`channels.${channel}`) },
    {
      id: 'template',
      header: t('template'),
      cell: ({ template_id: id }) => {
        const name = templates.get(id);
        return name === undefined ? <code className="font-mono text-xs">{id}</code> : <bdi>{name}</bdi>;
      },
    },
    { id: 'category', header: t('category'), cell: ({ category }) => t(`categories.${category}`) },
  ];
}
