import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { DeletedFilter, ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import type { Attribute } from './attribute-draft.ts';
import { TYPES } from './vocabulary.ts';
import { AttributeState } from './attribute-facts.tsx';
import type { AttributesSearch } from './search-params.ts';

const attributesRoute = getRouteApi('/o/$organization/attributes');
const NewAttributePanel = lazyPart(async () => (await import('./new-attribute.tsx')).NewAttributePanel);
const AttributePanel = lazyPart(async () => (await import('./attribute-panel.tsx')).AttributePanel);

/** A conversion that was seen to run is seen to end. */
const READ_EVERY_MS = 5_000;

/** Which values the attributes of contacts take. */
export function AttributesPage(): ReactNode {
  const t = useTranslations('attributes');
  const may = useMay();
  const { open } = attributesRoute.useSearch();
  if (!may('core.attributes.read')) return <Forbidden permission="core.attributes.read" />;
  return (
    <ListPage
      title={t('title')}
      lead={t('lead')}
      open={open}
      add={may('core.attributes.create') && t('new')}
      form={(props) => <NewAttributePanel {...props} />}
      panel={(id, onClose) => <AttributePanel key={id} id={id} onClose={onClose} />}
    >
      <AttributeFilters />
      <Attributes />
    </ListPage>
  );
}

function AttributeFilters(): ReactNode {
  const t = useTranslations('attributes');
  const { key, type } = attributesRoute.useSearch();
  const change = useChangeOf<AttributesSearch>();
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
      <DeletedFilter label={t('withDeleted')} />
    </Filters>
  );
}

function Attributes(): ReactNode {
  const t = useTranslations('attributes');
  const api = useApi();
  const { open, key, type, deleted } = attributesRoute.useSearch();
  const list = useList<Attribute>(
    ['attributes', 'list', key, type, deleted],
    async (cursor, signal) => {
      const query = { 'key[prefix]': key, type, include_deleted: deleted, cursor };
      return (await api.GET('/v1/core/attribute-definitions', { params: { query }, signal })).data;
    },
    { refetchInterval: READ_EVERY_MS },
  );
  const filtered = key !== undefined || type !== undefined;
  return (
    <Rows
      label={t('title')}
      list={list}
      columns={useColumns()}
      open={open}
      filtered={filtered}
      empty={<Empty title={t('none')}>{t('noneLead')}</Empty>}
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
