import { getRouteApi } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import { ButtonLink } from '../ui/button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { useList, type ListPage as ListAnswer } from '../ui/list.ts';
import { Empty, Failure, Forbidden, Note } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import {
  asQuery,
  filterFields,
  knownFilters,
  knownSort,
  openFields,
  type ObjectDefinition,
  type ObjectRecord,
} from './object.ts';
import { RecordFilters } from './record-filters.tsx';
import type { RecordsSearch } from './search-params.ts';
import { useNamedDefinition } from './use-objects.ts';
import { ValueView } from './value-view.tsx';

const recordsRoute = getRouteApi('/o/$organization/objects/$definition');
const NewRecord = lazyPart(async () => (await import('./new-record.tsx')).NewRecord);
const RecordPanel = lazyPart(async () => (await import('./record-panel.tsx')).RecordPanel);

/** So many fields are columns; a record that is opened shows all. */
const MOST_COLUMNS = 8;
const READ_EVERY_MS = 15_000;

/** The records of one definition. */
export function RecordsPage(): ReactNode {
  const may = useMay();
  if (!may('crm.objects.read')) return <Forbidden permission="crm.objects.read" />;
  return <Known />;
}

function Known(): ReactNode {
  const t = useTranslations('objects');
  const { definition: named } = recordsRoute.useParams();
  const { data, error, refetch } = useNamedDefinition(named);
  if (data == null)
    return (
      <Page title={t('records')} actions={<Back />}>
        {error !== null && <Failure error={error} again={() => void refetch()} />}
        {data === null && <Empty title={t('noSuchDefinition', { slug: named })} />}
        {data === undefined && error === null && <div aria-busy className="bones h-64" />}
      </Page>
    );
  return <Records definition={data} />;
}

function Back(): ReactNode {
  const t = useTranslations('objects');
  const { organization } = usePerson();
  return (
    <ButtonLink
      to="/o/$organization/objects"
      params={{ organization: organization.slug }}
      search={{}}
      look="quiet"
    >
      <ArrowLeft aria-hidden className="size-4" />
      {t('title')}
    </ButtonLink>
  );
}

function Records({ definition }: { definition: ObjectDefinition }): ReactNode {
  const t = useTranslations('objects');
  const may = useMay();
  const { open } = recordsRoute.useSearch();
  const active = definition.deleted_at === null;
  return (
    <ListPage
      title={definition.name}
      lead={t('recordsLead')}
      open={open}
      add={active && may('crm.objects.create') && t('newRecord')}
      form={(props) => <NewRecord definition={definition} {...props} />}
      panel={(id, onClose) => <RecordPanel key={id} definition={definition} id={id} onClose={onClose} />}
    >
      <div className="flex flex-wrap gap-2">
        <Back />
        <ToDefinition id={definition.id} />
      </div>
      {!active && <Note>{t('definitionDeleted')}</Note>}
      <RecordFilters definition={definition} />
      <Table definition={definition} />
    </ListPage>
  );
}

function ToDefinition({ id }: { id: string }): ReactNode {
  const t = useTranslations('objects');
  const { organization } = usePerson();
  const params = { organization: organization.slug };
  return (
    <ButtonLink to="/o/$organization/objects" params={params} search={{ open: id }} look="quiet">
      {t('itsFields')}
    </ButtonLink>
  );
}

function Table({ definition }: { definition: ObjectDefinition }): ReactNode {
  const t = useTranslations('objects');
  const api = useApi();
  const change = useChangeOf<RecordsSearch>();
  const search = recordsRoute.useSearch();
  const { open, deleted } = search;
  const sort = knownSort(definition, { ...search });
  const filters = knownFilters(definition, { ...search });
  const list = useList<ObjectRecord>(
    ['objects', 'records', definition.id, filters, deleted, sort],
    async (cursor, signal): Promise<ListAnswer<ObjectRecord>> => {
      const query = asQuery({ ...filters, include_deleted: deleted, sort, cursor });
      const params = { path: { slug: definition.id }, query };
      return (await api.GET('/v1/crm/objects/{slug}', { params, signal })).data;
    },
    { refetchInterval: READ_EVERY_MS },
  );
  return (
    <Rows
      label={definition.name}
      list={list}
      columns={useColumns(definition)}
      open={open}
      sort={sort ?? '-created_at'}
      onSort={(next) => change({ sort: next }, true)}
      filtered={Object.keys(filters).length > 0}
      empty={<Empty title={t('noRecords')}>{t('noRecordsLead')}</Empty>}
    />
  );
}

function useColumns(definition: ObjectDefinition): Column<ObjectRecord>[] {
  const t = useTranslations('objects');
  const sorted = new Set(filterFields(definition).map(({ key }) => key));
  return [
    ...openFields(definition)
      .slice(0, MOST_COLUMNS)
      .map((field) => ({
        id: field.key,
        header: field.label,
        ...(sorted.has(field.key) ? { sort: `values.${field.key}` } : {}),
        plain: field.type === 'reference' || !field.required,
        end: field.type === 'integer' || field.type === 'number',
        cell: ({ values }: ObjectRecord) => <ValueView field={field} value={values[field.key]} />,
      })),
    {
      id: 'made',
      header: t('createdAt'),
      sort: 'created_at',
      cell: ({ created_at: at, deleted_at: deletedAt }) =>
        deletedAt === null ? <Time at={at} /> : t('deletedState'),
    },
  ];
}
