import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { Checkbox } from '../ui/form.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { TYPES, type Attribute } from './attribute-draft.ts';
import { AttributeState } from './attribute-facts.tsx';
import { AttributePanel } from './attribute-panel.tsx';
import { NewAttributePanel } from './new-attribute.tsx';
import { attributesRoute, type AttributesSearch } from './routes.ts';

const NEW = 'new';

/** Which values the attributes of contacts take. */
export function AttributesPage(): ReactNode {
  const t = useTranslations('attributes');
  const may = useMay();
  const { open } = attributesRoute.useSearch();
  const change = useChange();
  if (!may('core.attributes.read')) return <Forbidden permission="core.attributes.read" />;
  const mayCreate = may('core.attributes.create');
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
      <AttributeFilters />
      <Attributes onOpen={(id) => change({ open: id })} />
      {open === NEW && mayCreate && (
        <NewAttributePanel onClose={close} onMade={({ id }) => change({ open: id }, true)} />
      )}
      {open !== undefined && open !== NEW && <AttributePanel key={open} id={open} onClose={close} />}
    </Page>
  );
}

function useChange(): (changed: AttributesSearch, replace?: boolean) => void {
  const navigate = attributesRoute.useNavigate();
  return (changed, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace, resetScroll: false });
}

function AttributeFilters(): ReactNode {
  const t = useTranslations('attributes');
  const { key, type, deleted } = attributesRoute.useSearch();
  const change = useChange();
  return (
    <Filters>
      <SearchField
        main
        label={t('byKey')}
        value={key ?? ''}
        onChange={(typed) => change({ key: typed || undefined }, true)}
      />
      <FilterSelect
        label={t('type')}
        value={type}
        onChange={(value) => change({ type: TYPES.find((each) => each === value) }, true)}
        options={TYPES.map((value) => ({ value, label: t(`types.${value}`) }))}
      />
      <Checkbox
        label={t('withDeleted')}
        checked={deleted === true}
        onChange={({ target }) => change({ deleted: target.checked ? true : undefined }, true)}
      />
    </Filters>
  );
}

function Attributes({ onOpen }: { onOpen: (id: string) => void }): ReactNode {
  const t = useTranslations('attributes');
  const api = useApi();
  const { open, key, type, deleted } = attributesRoute.useSearch();
  const list = useList<Attribute>(['attributes', 'list', key, type, deleted], async (cursor, signal) => {
    const query = { 'key[prefix]': key, type, include_deleted: deleted, cursor };
    return (await api.GET('/v1/core/attribute-definitions', { params: { query }, signal })).data;
  });
  const filtered = key !== undefined || type !== undefined;
  return (
    <DataTable
      label={t('title')}
      list={list}
      columns={useColumns()}
      keyOf={({ id }) => id}
      chosen={open}
      onOpen={({ id }) => onOpen(id)}
      empty={
        filtered ? <Empty title={t('nothingMatches')} /> : <Empty title={t('none')}>{t('noneLead')}</Empty>
      }
    />
  );
}

function useColumns(): Column<Attribute>[] {
  const t = useTranslations('attributes');
  return [
    { id: 'label', header: t('label'), cell: ({ label }) => <bdi className="font-medium">{label}</bdi> },
    {
      id: 'key',
      header: t('key'),
      cell: ({ key }) => <code className="font-mono text-xs">{key}</code>,
    },
    { id: 'type', header: t('type'), cell: ({ type }) => t(`types.${type}`) },
    { id: 'state', header: t('state'), cell: (attribute) => <AttributeState attribute={attribute} /> },
    { id: 'members', header: t('members'), cell: (row) => t(row.member_visible ? 'seen' : 'unseen') },
    { id: 'changed', header: t('changedAt'), cell: ({ updated_at: at }) => <Time at={at} /> },
  ];
}
