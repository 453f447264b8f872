import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { DeletedFilter, useChangeOf } from '../ui/list-page.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden, NothingMatches } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { MessageTabs } from './message-tabs.tsx';
import type { TemplatesSearch } from './search-params.ts';
import type { Template } from './template.ts';
import { Published } from './template-state.tsx';
import { CHANNELS, TEMPLATE_KINDS } from './vocabulary.ts';

const templatesRoute = getRouteApi('/o/$organization/messages/templates');

/** What messages are written from. */
export function TemplatesPage(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  if (!may('messaging.templates.read')) return <Forbidden permission="messaging.templates.read" />;
  return (
    <Page title={t('templates')} lead={t('templatesLead')} actions={<NewButton />}>
      <MessageTabs />
      <TemplateFilters />
      <TemplateTable />
    </Page>
  );
}

function NewButton(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { organization } = usePerson();
  const { kind, channel } = templatesRoute.useSearch();
  if (!may('messaging.templates.create')) return null;
  const params = { organization: organization.slug };
  return (
    <ButtonLink
      look="main"
      to="/o/$organization/messages/templates/new"
      params={params}
      search={{ kind, channel }}
    >
      <Plus aria-hidden className="size-4" />
      {t('newTemplate')}
    </ButtonLink>
  );
}

function TemplateFilters(): ReactNode {
  const t = useTranslations('messages');
  const { name, kind, channel } = templatesRoute.useSearch();
  const change = useChangeOf<TemplatesSearch>();
  return (
    <Filters>
      <SearchField
        main
        label={t('byName')}
        value={name ?? ''}
        onChange={(typed) => change({ name: typed === '' ? undefined : typed }, true)}
      />
      <FilterSelect
        label={t('kind')}
        value={kind}
        onChange={(value) => change({ kind: TEMPLATE_KINDS.find((each) => each === value) }, true)}
        options={TEMPLATE_KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
      />
      <FilterSelect
        label={t('channel')}
        value={channel}
        onChange={(value) => change({ channel: CHANNELS.find((each) => each === value) }, true)}
        options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
      />
      <DeletedFilter label={t('withDeleted')} />
    </Filters>
  );
}

function TemplateTable(): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const navigate = useNavigate();
  const { organization } = usePerson();
  const { name, kind, channel, deleted } = templatesRoute.useSearch();
  const list = useList<Template>(
    ['messages', 'templates', name, kind, channel, deleted],
    async (cursor, signal) => {
      const query = { 'name[prefix]': name, kind, channel, include_deleted: deleted, cursor };
      return (await api.GET('/v1/messaging/templates', { params: { query }, signal })).data;
    },
  );
  const filtered = name !== undefined || kind !== undefined || channel !== undefined;
  return (
    <DataTable
      label={t('templates')}
      list={list}
      columns={useColumns()}
      keyOf={({ id }) => id}
      addressOf={({ id }) => `/o/${organization.slug}/messages/templates/${id}`}
      onOpen={({ id }) =>
        void navigate({
          to: '/o/$organization/messages/templates/$template',
          params: { organization: organization.slug, template: id },
        })
      }
      empty={filtered ? <NothingMatches /> : <Empty title={t('noTemplates')}>{t('noTemplatesLead')}</Empty>}
    />
  );
}

function useColumns(): Column<Template>[] {
  const t = useTranslations('messages');
  return [
    { id: 'name', header: t('name'), cell: ({ name }) => <span title={name}>{name}</span> },
    { id: 'kind', header: t('kind'), cell: ({ kind }) => t(`kinds.${kind}`) },
    { id: 'channel', header: t('channel'), cell: ({ channel }) => t(`channels.${channel}`) },
    { id: 'locales', header: t('locales'), cell: ({ locales }) => Object.keys(locales).join(', ') },
    { id: 'published', header: t('published'), cell: (template) => <Published template={template} /> },
    { id: 'changed', header: t('changedAt'), cell: ({ updated_at: at }) => <Time at={at} /> },
  ];
}
