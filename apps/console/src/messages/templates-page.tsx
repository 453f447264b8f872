import type { Schemas } from '@customer-platform/client';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { Checkbox } from '../ui/form.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden, NothingMatches } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { MessageTabs } from './message-tabs.tsx';
import { templatesRoute, type TemplatesSearch } from './routes.ts';
import { CHANNELS } from './vocabulary.ts';

export type Template = Schemas['TemplateDto'];

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
  if (!may('messaging.templates.create')) return null;
  const params = { organization: organization.slug };
  return (
    <ButtonLink look="main" to="/o/$organization/messages/templates/new" params={params}>
      <Plus aria-hidden className="size-4" />
      {t('newTemplate')}
    </ButtonLink>
  );
}

function TemplateFilters(): ReactNode {
  const t = useTranslations('messages');
  const navigate = useNavigate({ from: templatesRoute.fullPath });
  const { name, channel, deleted } = templatesRoute.useSearch();
  const filter = (search: TemplatesSearch): void => void navigate({ search, replace: true });
  const kept = {
    ...(name === undefined ? {} : { name }),
    ...(channel === undefined ? {} : { channel }),
    ...(deleted === undefined ? {} : { deleted }),
  };
  return (
    <Filters>
      <SearchField
        main
        label={t('byName')}
        value={name ?? ''}
        onChange={(typed) => filter({ ...kept, name: typed })}
      />
      <FilterSelect
        label={t('channel')}
        value={channel}
        onChange={(value) => filter({ ...kept, channel: value ?? '' })}
        options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
      />
      <Checkbox
        label={t('withDeleted')}
        checked={deleted === true}
        onChange={({ target }) => {
          const { deleted: _, ...rest } = kept as TemplatesSearch;
          filter(target.checked ? { ...rest, deleted: true } : rest);
        }}
      />
    </Filters>
  );
}

function TemplateTable(): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const navigate = useNavigate();
  const { organization } = usePerson();
  const { name, channel, deleted } = templatesRoute.useSearch();
  const list = useList<Template>(
    ['messages', 'templates', name, channel, deleted],
    async (cursor, signal) => {
      const query = {
        ...(name ? { 'name[prefix]': name } : {}),
        ...(channel ? { channel: channel as Template['channel'] } : {}),
        ...(deleted === true ? { include_deleted: true } : {}),
        ...(cursor === undefined ? {} : { cursor }),
      };
      return (await api.GET('/v1/messaging/templates', { params: { query }, signal })).data;
    },
  );
  return (
    <DataTable
      label={t('templates')}
      list={list}
      columns={useColumns()}
      keyOf={({ id }) => id}
      onOpen={({ id }) =>
        void navigate({
          to: '/o/$organization/messages/templates/$template',
          params: { organization: organization.slug, template: id },
        })
      }
      empty={
        name || channel ? <NothingMatches /> : <Empty title={t('noTemplates')}>{t('noTemplatesLead')}</Empty>
      }
    />
  );
}

function useColumns(): Column<Template>[] {
  const t = useTranslations('messages');
  return [
    { id: 'name', header: t('name'), cell: ({ name }) => <span title={name}>{name}</span> },
    { id: 'channel', header: t('channel'), cell: ({ channel }) => t(`channels.${channel}`) },
    { id: 'locales', header: t('locales'), cell: ({ locales }) => Object.keys(locales).join(', ') },
    { id: 'published', header: t('published'), cell: (template) => <Published template={template} /> },
    { id: 'changed', header: t('changedAt'), cell: ({ updated_at: at }) => <Time at={at} /> },
  ];
}

/** Which version is sent, and whether a newer one waits. */
export function Published({ template }: { template: Template }): ReactNode {
  const t = useTranslations('messages');
  const { version, published_version: published, deleted_at: deletedAt } = template;
  if (deletedAt !== null) return <Badge tone="bad">{t('deletedState')}</Badge>;
  if (published === null) return <Badge tone="warn">{t('draft')}</Badge>;
  if (published === version) return <Badge tone="good">{t('versionSent', { version })}</Badge>;
  return <Badge tone="warn">{t('draftBeyond', { version, published })}</Badge>;
}
