import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { DeletedFilter, ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Filters } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import { DefinitionState } from './definition-state.tsx';
import { definitionOf, openFields, type ObjectDefinition } from './object.ts';
import { DEFINITION_SORTS, type DefinitionsSearch } from './search-params.ts';

const objectsRoute = getRouteApi('/o/$organization/objects');
const NewDefinition = lazyPart(async () => (await import('./new-definition.tsx')).NewDefinition);
const DefinitionPanel = lazyPart(async () => (await import('./definition-panel.tsx')).DefinitionPanel);

/** An index that was seen to be built is seen to be ready. */
const READ_EVERY_MS = 10_000;

/** Which things of its own an organization keeps beside contacts. */
export function ObjectsPage(): ReactNode {
  const t = useTranslations('objects');
  const may = useMay();
  const { open } = objectsRoute.useSearch();
  if (!may('crm.objects.read')) return <Forbidden permission="crm.objects.read" />;
  return (
    <ListPage
      title={t('title')}
      lead={t('lead')}
      open={open}
      add={may('crm.objects.create') && t('new')}
      form={(props) => <NewDefinition {...props} />}
      panel={(id, onClose) => <DefinitionPanel key={id} id={id} onClose={onClose} />}
    >
      <DefinitionFilters />
      <Definitions />
    </ListPage>
  );
}

function DefinitionFilters(): ReactNode {
  const t = useTranslations('objects');
  return (
    <Filters>
      <DeletedFilter label={t('withDeleted')} />
    </Filters>
  );
}

function Definitions(): ReactNode {
  const t = useTranslations('objects');
  const api = useApi();
  const change = useChangeOf<DefinitionsSearch>();
  const { open, deleted, sort } = objectsRoute.useSearch();
  const list = useList<ObjectDefinition>(
    ['objects', 'list', deleted, sort],
    async (cursor, signal) => {
      const query = { include_deleted: deleted, sort, cursor };
      const { data } = await api.GET('/v1/crm/object-definitions', { params: { query }, signal });
      return { ...data, data: data.data.map(definitionOf) };
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
      onSort={(next) => change({ sort: DEFINITION_SORTS.find((each) => each === next) }, true)}
      filtered={false}
      empty={<Empty title={t('none')}>{t('noneLead')}</Empty>}
    />
  );
}

function useColumns(): Column<ObjectDefinition>[] {
  const t = useTranslations('objects');
  const format = useFormatter();
  return [
    {
      id: 'name',
      header: t('name'),
      sort: 'name',
      cell: ({ name }) => <bdi className="font-medium">{name}</bdi>,
    },
    { id: 'slug', header: t('slug'), cell: ({ slug }) => <code className="font-mono text-xs">{slug}</code> },
    { id: 'state', header: t('state'), cell: (definition) => <DefinitionState definition={definition} /> },
    {
      id: 'fields',
      header: t('fields'),
      end: true,
      cell: (definition) => format.number(openFields(definition).length),
    },
    {
      id: 'records',
      header: t('records'),
      cell: (definition) => <ToRecords definition={definition} />,
    },
    {
      id: 'made',
      header: t('createdAt'),
      sort: 'created_at',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ];
}

function ToRecords({ definition }: { definition: ObjectDefinition }): ReactNode {
  const t = useTranslations('objects');
  const { organization } = usePerson();
  const { id, slug, deleted_at: deletedAt, record_count: count } = definition;
  return (
    <Link
      to="/o/$organization/objects/$definition"
      params={{ organization: organization.slug, definition: deletedAt === null ? slug : id }}
      search={{}}
      className="text-accent underline"
      // The row that it stands in opens something else.
      onClick={(event) => event.stopPropagation()}
    >
      {t('recordCount', { count })}
    </Link>
  );
}
