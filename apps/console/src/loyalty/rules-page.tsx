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
import { LoyaltyTabs } from './loyalty-tabs.tsx';
import { NewRulePanel } from './new-rule.tsx';
import { loyaltyRulesRoute, type RulesSearch } from './routes.ts';
import type { Rule } from './rule-draft.ts';
import { FormulaWords, RuleState } from './rule-facts.tsx';
import { RulePanel } from './rule-panel.tsx';

const NEW = 'new';

/** What gives points for which events. */
export function RulesPage(): ReactNode {
  const t = useTranslations('loyalty');
  const may = useMay();
  const { open } = loyaltyRulesRoute.useSearch();
  const change = useChange();
  if (!may('loyalty.rules.read')) return <Forbidden permission="loyalty.rules.read" />;
  const mayCreate = may('loyalty.rules.create');
  const close = (): void => change({ open: undefined });
  return (
    <Page
      title={t('rules')}
      lead={t('rulesLead')}
      actions={
        mayCreate && (
          <Button look="main" onClick={() => change({ open: NEW })}>
            <Plus aria-hidden className="size-4" />
            {t('newRule')}
          </Button>
        )
      }
    >
      <LoyaltyTabs />
      <RuleFilters />
      <Rules onOpen={(id) => change({ open: id })} />
      {open === NEW && mayCreate && (
        <NewRulePanel onClose={close} onMade={({ id }) => change({ open: id }, true)} />
      )}
      {open !== undefined && open !== NEW && <RulePanel key={open} id={open} onClose={close} />}
    </Page>
  );
}

function useChange(): (changed: RulesSearch, replace?: boolean) => void {
  const navigate = loyaltyRulesRoute.useNavigate();
  return (changed, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace, resetScroll: false });
}

function RuleFilters(): ReactNode {
  const t = useTranslations('loyalty');
  const { name, event, enabled, deleted } = loyaltyRulesRoute.useSearch();
  const change = useChange();
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
      <FilterSelect
        label={t('state')}
        value={enabled}
        onChange={(value) =>
          change({ enabled: value === 'true' || value === 'false' ? value : undefined }, true)
        }
        options={[
          { value: 'true', label: t('on') },
          { value: 'false', label: t('off') },
        ]}
      />
      <Checkbox
        label={t('withDeleted')}
        checked={deleted === true}
        onChange={({ target }) => change({ deleted: target.checked ? true : undefined }, true)}
      />
    </Filters>
  );
}

function Rules({ onOpen }: { onOpen: (id: string) => void }): ReactNode {
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
    <DataTable
      label={t('rules')}
      list={list}
      columns={useColumns()}
      keyOf={({ id }) => id}
      chosen={open}
      onOpen={({ id }) => onOpen(id)}
      empty={
        filtered ? (
          <Empty title={t('nothingMatches')} />
        ) : (
          <Empty title={t('noRules')}>{t('noRulesLead')}</Empty>
        )
      }
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
