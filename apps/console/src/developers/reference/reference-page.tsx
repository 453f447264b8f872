import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useAddressBeside } from '../../ui/address-beside.ts';
import { Badge } from '../../ui/badge.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Detail, Details } from '../../ui/details.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Filters, FilterSelect, SearchField } from '../../ui/filters.tsx';
import { Empty } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { MODULES, type ReferenceSearch } from '../search-params.ts';
import { routesOf, routesWith, type Route } from './open-api.ts';
import { useOpenApi } from './use-open-api.ts';

const referenceRoute = getRouteApi('/o/$organization/developers/reference');
const DOCUMENTS = [
  { href: '/v1/openapi.json', name: 'OpenAPI' },
  { href: '/v1/asyncapi.json', name: 'AsyncAPI' },
];

/** What can be called, and with which permission. */
export function ReferencePage(): ReactNode {
  const t = useTranslations('developers');
  const addressBeside = useAddressBeside();
  const { q, module, open } = referenceRoute.useSearch();
  const navigate = referenceRoute.useNavigate();
  const { data, error, isPending, refetch } = useOpenApi();
  const change = (search: ReferenceSearch, replace = true): void =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace });
  const routes = data === undefined ? [] : routesOf(data);
  const opened = routes.find(({ name }) => name === open);
  return (
    <Section title={t('parts.reference')} lead={t('reference.lead')} actions={<Documents />}>
      <Filters>
        <SearchField
          main
          label={t('reference.search')}
          value={q ?? ''}
          onChange={(words) => change({ q: words || undefined })}
        />
        <FilterSelect
          label={t('reference.module')}
          value={module}
          onChange={(value) => change({ module: MODULES.find((each) => each === value) })}
          options={MODULES.map((value) => ({ value, label: value }))}
        />
      </Filters>
      <DataTable
        label={t('parts.reference')}
        list={{
          items: routesWith(routes, q ?? '', module),
          loading: isPending,
          error,
          hasMore: false,
          loadingMore: false,
          more: () => undefined,
          again: () => void refetch(),
        }}
        columns={useColumns()}
        keyOf={({ name }) => name}
        chosen={open}
        onOpen={({ name }) => change({ open: name }, false)}
        addressOf={({ name }) => addressBeside(name)}
        empty={<Empty title={t('reference.none')} />}
      />
      {opened !== undefined && (
        <RoutePanel route={opened} onClose={() => change({ open: undefined }, false)} />
      )}
    </Section>
  );
}

function Documents(): ReactNode {
  return (
    <span className="flex gap-4">
      {DOCUMENTS.map(({ href, name }) => (
        <a key={href} href={href} target="_blank" rel="noreferrer" className="text-accent underline">
          {name}
        </a>
      ))}
    </span>
  );
}

function useColumns(): Column<Route>[] {
  const t = useTranslations('developers');
  return [
    {
      id: 'route',
      header: t('reference.route'),
      cell: ({ method, path }) => (
        <span className="flex items-center gap-2">
          <Badge tone={method === 'GET' ? 'neutral' : 'accent'}>{method}</Badge>
          <code className="truncate font-mono text-xs">{path}</code>
        </span>
      ),
    },
    {
      id: 'permission',
      header: t('reference.permission'),
      cell: ({ permission }) =>
        permission === undefined ? (
          <span className="text-soft">{t('reference.noPermission')}</span>
        ) : (
          <code className="font-mono text-xs">{permission}</code>
        ),
    },
    { id: 'summary', header: t('reference.does'), cell: ({ summary }) => summary },
  ];
}

function RoutePanel({ route, onClose }: { route: Route; onClose: () => void }): ReactNode {
  const t = useTranslations('developers');
  const { name, summary, description, permission, problems, parameters } = route;
  return (
    <Dialog open onClose={onClose} place="side" title={name} lead={summary}>
      {description !== undefined && <p>{description}</p>}
      <Details>
        <Detail name={t('reference.permission')}>
          {permission === undefined ? t('reference.noPermission') : <code>{permission}</code>}
        </Detail>
        <Detail name={t('reference.parameters')}>
          <Codes names={parameters.map((each) => (each.required ? `${each.name} *` : each.name))} />
        </Detail>
        <Detail name={t('reference.problems')}>
          <Codes names={problems} />
        </Detail>
      </Details>
    </Dialog>
  );
}

function Codes({ names }: { names: readonly string[] }): ReactNode {
  if (names.length === 0) return '–';
  return (
    <ul className="flex flex-wrap gap-x-3 gap-y-1">
      {names.map((name) => (
        <li key={name}>
          <code className="font-mono text-xs">{name}</code>
        </li>
      ))}
    </ul>
  );
}
