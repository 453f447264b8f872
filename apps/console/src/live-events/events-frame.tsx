import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ContactChip } from '../people/contact-chip.tsx';
import { useMay } from '../session/use-session.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { EVENT_TYPES, type EventsSearch } from './search-params.ts';

interface EventsFrameProps {
  search: EventsSearch;
  onFilter: (change: Partial<EventsSearch>) => void;
  actions?: ReactNode;
  /** Besides the filters of both views. */
  filters?: ReactNode;
  children: ReactNode;
}

/** What both views have around them. */
export function EventsFrame({ search, onFilter, actions, filters, children }: EventsFrameProps): ReactNode {
  const t = useTranslations('live-events');
  const may = useMay();
  const { organization = '' } = useParams({ strict: false });
  if (!may('core.events.read')) return <Forbidden permission="core.events.read" />;
  const { open: _, ...kept } = search;
  const link = { params: { organization }, search: kept };
  return (
    <Page title={t('title')} lead={t('lead')} actions={actions}>
      <Tabs
        label={t('views')}
        tabs={[
          { label: t('live'), link: { to: '/o/$organization/events', ...link } },
          { label: t('earlier'), link: { to: '/o/$organization/events/earlier', ...link } },
        ]}
      />
      <Filters>
        <SearchField
          main
          label={t('filter.event')}
          value={search.event ?? ''}
          onChange={(event) => onFilter({ event: event || undefined })}
        />
        <SearchField
          label={t('filter.externalId')}
          value={search.external_id ?? ''}
          onChange={(external_id) => onFilter({ external_id: external_id || undefined })}
        />
        <FilterSelect
          label={t('filter.type')}
          value={search.type}
          onChange={(type) => onFilter({ type: EVENT_TYPES.find((each) => each === type) })}
          options={EVENT_TYPES.map((value) => ({ value, label: t(`type.${value}`) }))}
        />
        {filters}
        {search.contact_id !== undefined && (
          <ContactChip id={search.contact_id} onClear={() => onFilter({ contact_id: undefined })} />
        )}
      </Filters>
      {children}
    </Page>
  );
}

/** To all that was stored, with the same filters. */
export function ToEarlier({ search }: { search: EventsSearch }): ReactNode {
  const t = useTranslations('live-events');
  const { organization = '' } = useParams({ strict: false });
  return (
    <Link
      to="/o/$organization/events/earlier"
      params={{ organization }}
      search={search}
      className="font-medium underline"
    >
      {t('seeEarlier')}
    </Link>
  );
}
