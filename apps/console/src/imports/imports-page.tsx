import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import { ImportState } from './outcome.tsx';
import { STATES, type ImportsSearch } from './search-params.ts';
import type { ImportSummary } from './use-imports.ts';

const importsRoute = getRouteApi('/o/$organization/contacts/imports');
const NewImportPanel = lazyPart(async () => (await import('./new-import.tsx')).NewImportPanel);
const ImportPanel = lazyPart(async () => (await import('./import-panel.tsx')).ImportPanel);

const LOOK_EVERY_MS = 5_000;

/** Files of contacts, and what became of them. */
export function ImportsPage(): ReactNode {
  const t = useTranslations('imports');
  const may = useMay();
  const { state, open } = importsRoute.useSearch();
  const change = useChangeOf<ImportsSearch>();
  if (!may('core.imports.read')) return <Forbidden permission="core.imports.read" />;
  return (
    <ListPage
      title={t('title')}
      lead={t('lead')}
      open={open}
      add={may('core.imports.create') && t('new')}
      form={(props) => <NewImportPanel {...props} />}
      panel={(id, onClose) => <ImportPanel key={id} id={id} onClose={onClose} />}
    >
      <Filters>
        <FilterSelect
          label={t('state')}
          value={state}
          onChange={(value) => change({ state: STATES.find((each) => each === value) }, true)}
          options={STATES.map((value) => ({ value, label: t(`states.${value}`) }))}
        />
      </Filters>
      <Imports />
    </ListPage>
  );
}

function Imports(): ReactNode {
  const t = useTranslations('imports');
  const api = useApi();
  const { state, open } = importsRoute.useSearch();
  const list = useList<ImportSummary>(
    ['imports', 'list', state],
    async (cursor, signal) =>
      (await api.GET('/v1/core/imports', { params: { query: { state, cursor } }, signal })).data,
    { refetchInterval: LOOK_EVERY_MS },
  );
  return (
    <Rows
      label={t('title')}
      list={list}
      columns={useColumns()}
      open={open}
      filtered={state !== undefined}
      empty={<Empty title={t('empty')}>{t('emptyLead')}</Empty>}
    />
  );
}

function useColumns(): Column<ImportSummary>[] {
  const t = useTranslations('imports');
  const { number } = useFormatter();
  return [
    { id: 'begun', header: t('begun'), cell: ({ created_at: at }) => <Time at={at} /> },
    { id: 'state', header: t('state'), cell: (row) => <ImportState of={row} /> },
    { id: 'rows', header: t('rows'), end: true, cell: ({ rows }) => number(rows.total) },
    { id: 'created', header: t('counts.created'), end: true, cell: ({ rows }) => number(rows.created) },
    { id: 'updated', header: t('counts.updated'), end: true, cell: ({ rows }) => number(rows.updated) },
    { id: 'failed', header: t('counts.failed'), end: true, cell: ({ rows }) => number(rows.failed) },
  ];
}
