import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { DeletedFilter, EnabledFilter, ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Filters, SearchField } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import { LoyaltyTabs } from './loyalty-tabs.tsx';
import type { RulesSearch } from './search-params.ts';
import type { Rule } from './rule-draft.ts';
import { FormulaWords, RuleState } from './rule-facts.tsx';

const loyaltyRulesRoute = getRouteApi('/o/$organization/loyalty/rules');
const NewRulePanel = lazyPart(async () => (await import('./new-rule.tsx')).NewRulePanel);
const RulePanel = lazyPart(async () => (await import('./rule-panel.tsx')).RulePanel);

/** What gives points for which events. */
export function RulesPage(): ReactNode {
  const t = useTranslations('loyalty');
  const may = useMay();
  const { open } = loyaltyRulesRoute.useSearch();
  if (!may('loyalty.rules.read')) return <Forbidden permission="loyalty.rules.read" />;
  return (
    <ListPage
      title={t('rules')}
      lead={t('rulesLead')}
      open={open}
      add={may('loyalty.rules.create') && t('newRule')}
      form={(props) => <NewRulePanel {...props} />}
      panel={(id, onClose) => <RulePanel key={id} id={id} onClose={onClose} />}
    >
      <LoyaltyTabs />
      <RuleFilters />
      <Rules />
    </ListPage>
  );
}

function RuleFilters(): ReactNode {
  const t = useTranslations('loyalty');
  const { name, event } = loyaltyRulesRoute.useSearch();
  const change = useChangeOf<RulesSearch>();
  return (
    <Filters>
      <SearchField
        main
        label={t('byName')}
        value={name ?? ''}
        onChange={(typed) => change({ name: typed || undefined }, true)}
      />
      <SearchField
        label={t('eventName')}
        value={event ?? ''}
        onChange={(typed) => change({ event: typed || undefined }, true)}
      />
      <EnabledFilter label={t('state')} on={t('on')} off={t('off')} />
      <DeletedFilter label={t('withDeleted')} />
    </Filters>
  );
}

function Rules(): ReactNode {
  const t = useTranslations('loyalty');
  const api = useApi();
  const { open, name, event, enabled, deleted } = loyaltyRulesRoute.useSearch();
  const list = useList<Rule>(
    ['loyalty', 'rules', 'list', name, event, enabled, deleted],
    async (cursor, signal) => {
      const query = {
        'name[prefix]': name,
        event,
        enabled: enabled === undefined ? undefined : enabled === 'true',
        include_deleted: deleted,
        cursor,
      };
      return (await api.GET('/v1/loyalty/rules', { params: { query }, signal })).data;
    },
  );
  const filtered = [name, event, enabled].some((each) => each !== undefined);
  return (
    <Rows
      label={t('rules')}
      list={list}
      columns={useColumns()}
      open={open}
      filtered={filtered}
      empty={<Empty title={t('noRules')}>{t('noRulesLead')}</Empty>}
    />
  );
}

function useColumns(): Column<Rule>[] {
  const t = useTranslations('loyalty');
  return [
    { id: 'name', header: t('name'), cell: ({ name }) => <bdi className="font-medium">{name}</bdi> },
    { id: 'state', header: t('state'), cell: (rule) => <RuleState rule={rule} /> },
    {
      id: 'event',
      header: t('eventName'),
      cell: ({ event }) => <code className="font-mono text-xs">{event}</code>,
    },
    { id: 'formula', header: t('formula'), cell: ({ formula }) => <FormulaWords formula={formula} /> },
    { id: 'version', header: t('version'), end: true, cell: ({ version }) => version },
    { id: 'changed', header: t('changedAt'), cell: ({ updated_at: at }) => <Time at={at} /> },
  ];
}
