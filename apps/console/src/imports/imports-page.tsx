import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { ImportPanel } from './import-panel.tsx';
import { NewImportPanel } from './new-import.tsx';
import { ImportState } from './outcome.tsx';
import { importsRoute, STATES, type ImportsSearch } from './routes.ts';
import type { ImportSummary } from './use-imports.ts';

const NEW = 'new';
const LOOK_EVERY_MS = 5_000;

/** Files of contacts, and what became of them. */
export function ImportsPage(): ReactNode {
  const t = useTranslations('imports');
  const may = useMay();
  const { state, open } = importsRoute.useSearch();
  const change = useChange();
  if (!may('core.imports.read')) return <Forbidden permission="core.imports.read" />;
  const mayCreate = may('core.imports.create');
  const close = (): void => change({ open: undefined });
  return (
    <Page
      title={t('title')}
      lead={t('lead')}
      actions={
        mayCreate && (
          <Button look="main" onClick={() => change({ open: NEW })}>
            <Plus aria-hidden className="size-4" />
            {t('new')}
          </Button>
        )
      }
    >
      <Filters>
        <FilterSelect
          label={t('state')}
          value={state}
          onChange={(value) => change({ state: STATES.find((each) => each === value) }, true)}
          options={STATES.map((value) => ({ value, label: t(`states.${value}`) }))}
        />
      </Filters>
      <Imports onOpen={(id) => change({ open: id })} />
      {open === NEW && mayCreate && (
        <NewImportPanel onClose={close} onBegun={({ id }) => change({ open: id }, true)} />
      )}
      {open !== undefined && open !== NEW && <ImportPanel key={open} id={open} onClose={close} />}
    </Page>
  );
}

function useChange(): (changed: ImportsSearch, replace?: boolean) => void {
  const navigate = importsRoute.useNavigate();
  return (changed, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace, resetScroll: false });
}

function Imports({ onOpen }: { onOpen: (id: string) => void }): ReactNode {
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
    <DataTable
      label={t('title')}
      list={list}
      columns={useColumns()}
      keyOf={({ id }) => id}
      chosen={open}
      onOpen={({ id }) => onOpen(id)}
      empty={
        state === undefined ? (
          <Empty title={t('empty')}>{t('emptyLead')}</Empty>
        ) : (
          <Empty title={t('nothingMatches')} />
        )
      }
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
