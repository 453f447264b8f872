import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import type { SegmentsSearch } from './search-params.ts';
import type { Segment } from './use-segment.ts';

const segmentsRoute = getRouteApi('/o/$organization/segments');
const DEFAULT_SORT = '-created_at';

/** The segments of the organization. */
export function SegmentsPage(): ReactNode {
  const t = useTranslations('segments');
  const may = useMay();
  if (!may('core.segments.read')) return <Forbidden permission="core.segments.read" />;
  return (
    <Page title={t('title')} lead={t('lead')} actions={<NewButton />}>
      <SegmentFilters />
      <SegmentTable />
    </Page>
  );
}

function NewButton(): ReactNode {
  const t = useTranslations('segments');
  const may = useMay();
  const { organization } = usePerson();
  if (!may('core.segments.create')) return null;
  return (
    <ButtonLink look="main" to="/o/$organization/segments/new" params={{ organization: organization.slug }}>
      <Plus aria-hidden className="size-4" />
      {t('new')}
    </ButtonLink>
  );
}

function useFilter(): (changed: {
  [Name in keyof SegmentsSearch]: SegmentsSearch[Name] | undefined;
}) => void {
  const navigate = segmentsRoute.useNavigate();
  return (changed) =>
    void navigate({
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, ...changed }).filter(([, value]) => value !== undefined),
        ) as SegmentsSearch,
      replace: true,
    });
}

function SegmentFilters(): ReactNode {
  const t = useTranslations('segments');
  const { name = '', state, deleted } = segmentsRoute.useSearch();
  const filter = useFilter();
  return (
    <Filters>
      <SearchField
        main
        label={t('byName')}
        value={name}
        onChange={(typed) => filter({ name: typed === '' ? undefined : typed })}
      />
      <FilterSelect
        label={t('state')}
        value={state}
        onChange={(chosen) => filter({ state: chosen as SegmentsSearch['state'] })}
        options={(['ready', 'building'] as const).map((value) => ({ value, label: t(`states.${value}`) }))}
      />
      <label className="flex min-h-9 items-center gap-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={deleted === true}
          onChange={({ target }) => filter({ deleted: target.checked ? true : undefined })}
        />
        {t('withDeleted')}
      </label>
    </Filters>
  );
}

function SegmentTable(): ReactNode {
  const t = useTranslations('segments');
  const api = useApi();
  const navigate = useNavigate();
  const filter = useFilter();
  const { organization } = usePerson();
  const { name, state, deleted, sort = DEFAULT_SORT } = segmentsRoute.useSearch();
  const list = useList<Segment>(['segments', 'list', name, state, deleted, sort], async (cursor, signal) => {
    const query = {
      sort,
      ...(name === undefined ? {} : { 'name[prefix]': name }),
      ...(state === undefined ? {} : { state }),
      ...(deleted === true ? { include_deleted: true } : {}),
      ...(cursor === undefined ? {} : { cursor }),
    };
    return (await api.GET('/v1/core/segments', { params: { query }, signal })).data;
  });
  const filtered = name !== undefined || state !== undefined;
  return (
    <DataTable
      label={t('title')}
      list={list}
      columns={useColumns()}
      keyOf={({ id }) => id}
      sort={sort}
      onSort={(chosen) => filter({ sort: chosen })}
      addressOf={({ id }) => `/o/${organization.slug}/segments/${id}`}
      onOpen={({ id }) =>
        void navigate({
          to: '/o/$organization/segments/$segment',
          params: { organization: organization.slug, segment: id },
        })
      }
      empty={
        filtered ? (
          <Empty title={t('nothingMatches')} />
        ) : (
          <Empty title={t('empty')}>
            <p>{t('emptyLead')}</p>
          </Empty>
        )
      }
    />
  );
}

function useColumns(): Column<Segment>[] {
  const t = useTranslations('segments');
  const { number } = useFormatter();
  return [
    { id: 'name', header: t('name'), sort: 'name', cell: ({ name }) => <span title={name}>{name}</span> },
    { id: 'state', header: t('state'), cell: (segment) => <SegmentState segment={segment} /> },
    { id: 'members', header: t('members'), end: true, cell: ({ member_count: count }) => number(count) },
    { id: 'description', header: t('description'), cell: ({ description }) => description ?? '' },
    {
      id: 'created',
      header: t('createdAt'),
      sort: 'created_at',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ];
}

/** In a word: deleted, being applied, or followed. */
export function SegmentState({ segment }: { segment: Segment }): ReactNode {
  const t = useTranslations('segments');
  if (segment.deleted_at !== null) return <Badge tone="bad">{t('states.deleted')}</Badge>;
  return <Badge tone={segment.state === 'ready' ? 'good' : 'warn'}>{t(`states.${segment.state}`)}</Badge>;
}
