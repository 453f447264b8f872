import { getRouteApi } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Actor, ResourceName } from '../people/person.tsx';
import { useMay } from '../session/use-session.tsx';
import { useAddressBeside } from '../ui/address-beside.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { ActionName, useThingName } from './action-name.tsx';
import { AuditFilterRow } from './audit-filters.tsx';
import { auditQuery, type AuditRow } from './audit-log.ts';
import { AuditPanel } from './audit-panel.tsx';
import { ChainState } from './chain-state.tsx';
import { ExportLog } from './export-log.tsx';
import type { AuditFilters, AuditSearch } from './search-params.ts';

const auditRoute = getRouteApi('/o/$organization/audit');

/** Who did what, and whether the log is whole. */
export function AuditPage(): ReactNode {
  const t = useTranslations('audit');
  const may = useMay();
  const { open, ...filters } = auditRoute.useSearch();
  const navigate = auditRoute.useNavigate();
  const [exporting, setExporting] = useState(false);
  if (!may('core.audit.read')) return <Forbidden permission="core.audit.read" />;
  const change = (search: AuditSearch, replace = true): void =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace });
  return (
    <Page
      title={t('title')}
      lead={t('lead')}
      actions={
        <Button onClick={() => setExporting(true)}>
          <Download aria-hidden className="size-4" />
          {t('export')}
        </Button>
      }
    >
      <ChainState />
      <AuditFilterRow filters={filters} onChange={change} />
      <Rows filters={filters} chosen={open} onOpen={(open) => change({ open }, false)} />
      {open !== undefined && (
        <AuditPanel seq={Number(open)} onClose={() => change({ open: undefined }, false)} />
      )}
      {exporting && <ExportLog filters={filters} onClose={() => setExporting(false)} />}
    </Page>
  );
}

interface RowsProps {
  filters: AuditFilters;
  chosen: string | undefined;
  onOpen: (seq: string) => void;
}

function Rows({ filters, chosen, onOpen }: RowsProps): ReactNode {
  const t = useTranslations('audit');
  const addressBeside = useAddressBeside();
  const api = useApi();
  const list = useList<AuditRow>(['audit', 'list', filters], async (cursor, signal) => {
    const query = { ...auditQuery(filters), cursor, limit: 100 };
    return (await api.GET('/v1/core/audit-log', { params: { query }, signal })).data;
  });
  return (
    <DataTable
      label={t('title')}
      list={list}
      columns={useColumns()}
      keyOf={({ seq }) => String(seq)}
      chosen={chosen}
      onOpen={({ seq }) => onOpen(String(seq))}
      addressOf={({ seq }) => addressBeside(String(seq))}
      empty={<Empty title={t('none')}>{t('noneLead')}</Empty>}
    />
  );
}

function useColumns(): Column<AuditRow>[] {
  const t = useTranslations('audit');
  const thingName = useThingName();
  return [
    { id: 'seq', header: t('seq'), end: true, cell: ({ seq }) => seq },
    { id: 'at', header: t('at'), cell: ({ occurred_at }) => <Time at={occurred_at} /> },
    {
      id: 'action',
      header: t('action'),
      cell: ({ action, outcome }) => (
        <span className="flex items-center gap-2">
          <ActionName action={action} />
          {outcome === 'denied' && <Badge tone="bad">{t('outcomes.denied')}</Badge>}
        </span>
      ),
    },
    {
      id: 'actor',
      header: t('actor'),
      cell: ({ actor: { type, id, impersonator_id } }) => (
        <span className="flex items-center gap-2">
          <Actor type={type} id={id} />
          {impersonator_id !== null && <Badge tone="warn">{t('impersonated')}</Badge>}
        </span>
      ),
    },
    {
      id: 'resource',
      header: t('resource'),
      cell: ({ resource: { type, id } }) => (
        <span className="flex items-center gap-2">
          {thingName(type)}
          <ResourceName type={type} id={id} />
        </span>
      ),
    },
    {
      id: 'changed',
      header: t('changed'),
      cell: ({ changed_fields }) => changed_fields.join(', '),
    },
  ];
}
