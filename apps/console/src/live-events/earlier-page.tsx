import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useAddressBeside } from '../ui/address-beside.ts';
import { lazyPart } from '../ui/lazy-part.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { FilterInstant } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty } from '../ui/notices.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { useEventColumns } from './event-cells.tsx';
import { EventsFrame } from './events-frame.tsx';
import type { EarlierSearch } from './search-params.ts';

const earlierEventsRoute = getRouteApi('/o/$organization/events/earlier');
const EventPanel = lazyPart(async () => (await import('./event-panel.tsx')).EventPanel);

const PAGE = 100;

/** All events that are stored, by cursor. */
export function EarlierPage(): ReactNode {
  const t = useTranslations('live-events');
  const search = earlierEventsRoute.useSearch();
  const navigate = earlierEventsRoute.useNavigate();
  const change = (search: EarlierSearch, replace = true): void =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace });
  return (
    <EventsFrame
      search={search}
      onFilter={change}
      filters={
        <FilterInstant
          label={t('filter.until')}
          value={search.until}
          onChange={(until) => change({ until })}
        />
      }
    >
      <Earlier search={search} onOpen={(open) => change({ open }, false)} />
    </EventsFrame>
  );
}

interface EarlierProps {
  search: EarlierSearch;
  onOpen: (idempotencyKey: string | undefined) => void;
}

function Earlier({ search, onOpen }: EarlierProps): ReactNode {
  const t = useTranslations('live-events');
  const addressBeside = useAddressBeside();
  const api = useApi();
  const columns = useEventColumns();
  const { open, until, ...filters } = search;
  const list = useList(['events', filters, until], async (cursor, signal) => {
    const query = { ...filters, 'received_at[lte]': until, sort: '-received_at', limit: PAGE, cursor };
    return (await api.GET('/v1/core/events', { params: { query }, signal })).data;
  });
  const removedUntil = useRemoved(filters);
  const opened = list.items.find(({ idempotency_key }) => idempotency_key === open);
  return (
    <>
      <DataTable
        label={t('earlierLabel')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        chosen={opened?.id}
        onOpen={({ idempotency_key }) => onOpen(idempotency_key)}
        addressOf={({ idempotency_key }) => addressBeside(idempotency_key)}
        empty={<Empty title={t('emptyEarlier')}>{t('emptyEarlierLead')}</Empty>}
      />
      {removedUntil !== undefined && !list.loading && !list.hasMore && (
        <p className="pt-4 text-center text-xs text-soft">{t('removed', { at: removedUntil })}</p>
      )}
      {open !== undefined && (
        <EventPanel idempotencyKey={open} known={opened} onClose={() => onOpen(undefined)} />
      )}
    </>
  );
}

/** Until when events are missing for good, for people; undefined: none of those that are asked for. */
function useRemoved(filters: Omit<EarlierSearch, 'open' | 'until'>): string | undefined {
  const api = useApi();
  const format = useFormatter();
  const { data } = useOwnQuery({
    queryKey: ['events', 'gap', filters],
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/core/events', { params: { query: { ...filters, limit: 1 } }, signal })).data.gap,
  });
  return data == null
    ? undefined
    : format.dateTime(new Date(data.until), { dateStyle: 'medium', timeStyle: 'short' });
}
