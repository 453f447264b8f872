import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { Names } from '../../people/person.tsx';
import { namesOfContact } from '../../people/use-people.ts';
import { useMay } from '../../session/use-session.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../../ui/filters.tsx';
import { Checkbox } from '../../ui/form.tsx';
import { useList } from '../../ui/list.ts';
import { Empty, Forbidden, Note } from '../../ui/notices.tsx';
import { Page } from '../../ui/page.tsx';
import { useOwnQuery } from '../../ui/queries.ts';
import { Time } from '../../ui/time.tsx';
import type { ContactsSearch } from '../search-params.ts';
import type { Contact } from '../use-contact.ts';
import { CreateContact } from './create-contact.tsx';

const FROM = '/o/$organization/contacts' as const;
const PAGE = 100;
const SEGMENTS = 200;
/** Shorter ones are not looked for: the API asks for two. */
const SHORTEST = 2;

/** Everyone the organization knows: found by name or by any identifier. */
export function ContactsPage(): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { organization } = useParams({ from: FROM });
  const { form } = useSearch({ from: FROM });
  const change = useChangeSearch();
  if (!may('core.contacts.read')) return <Forbidden permission="core.contacts.read" />;
  const actions = (
    <>
      {may('core.contacts.merge') && (
        <ButtonLink to="/o/$organization/contacts/merge-suggestions" params={{ organization }}>
          {t('suggestions.title')}
        </ButtonLink>
      )}
      {may('core.imports.read') && (
        <ButtonLink to="/o/$organization/contacts/imports" params={{ organization }}>
          {t('imports')}
        </ButtonLink>
      )}
      {may('core.contacts.create') && (
        <Button look="main" onClick={() => change({ form: true })}>
          <Plus aria-hidden className="size-4" />
          {t('list.create')}
        </Button>
      )}
    </>
  );
  return (
    <Page title={t('list.title')} lead={t('list.lead')} actions={actions}>
      <ContactFilters />
      <Contacts />
      {form === true && <CreateContact onClose={() => change({ form: undefined })} />}
    </Page>
  );
}

function useChangeSearch() {
  const navigate = useNavigate({ from: FROM });
  return (changed: { [Name in keyof ContactsSearch]: ContactsSearch[Name] | undefined }): void => {
    void navigate({
      search: (before) => ({ ...before, ...changed }),
      replace: true,
      resetScroll: false,
    });
  };
}

function ContactFilters(): ReactNode {
  const t = useTranslations('contacts');
  const { q, segment, deleted } = useSearch({ from: FROM });
  const change = useChangeSearch();
  const segments = useSegmentNames(segment);
  return (
    <Filters>
      <SearchField
        main
        label={t('list.search')}
        value={q ?? ''}
        onChange={(value) => change({ q: value === '' ? undefined : value })}
      />
      {segments.length > 0 && (
        <FilterSelect
          label={t('list.segment')}
          value={segment}
          onChange={(value) => change({ segment: value })}
          options={segments.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      <Checkbox
        label={t('list.deleted')}
        checked={deleted === true}
        onChange={({ target }) => change({ deleted: target.checked ? true : undefined })}
      />
    </Filters>
  );
}

/** Those that are offered, and the one that is chosen. */
function useSegmentNames(chosen: string | undefined): readonly { id: string; name: string }[] {
  const api = useApi();
  const may = useMay();
  const { data } = useOwnQuery({
    queryKey: ['segments', 'names'],
    enabled: may('core.segments.read'),
    queryFn: async ({ signal }) => {
      const query = { limit: SEGMENTS, sort: 'name' as const };
      return (await api.GET('/v1/core/segments', { params: { query }, signal })).data.data;
    },
  });
  const offered = data ?? [];
  const isMissing = data !== undefined && chosen !== undefined && !data.some(({ id }) => id === chosen);
  const { data: other } = useOwnQuery({
    queryKey: ['segments', 'name', chosen],
    enabled: isMissing,
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/core/segments/{id}', { params: { path: { id: chosen ?? '' } }, signal })).data,
  });
  return isMissing && other !== undefined ? [...offered, other] : offered;
}

function Contacts(): ReactNode {
  const t = useTranslations('contacts');
  const { organization } = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const { sort = '-created_at' } = search;
  const change = useChangeSearch();
  const navigate = useNavigate();
  const list = useContacts(search);
  const columns = useColumns();
  const filtered = search.q !== undefined || search.segment !== undefined;
  if (search.q !== undefined && search.q.trim().length < SHORTEST) return <Note>{t('list.tooShort')}</Note>;
  return (
    <DataTable
      label={t('list.title')}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      sort={sort}
      onSort={(field) => change({ sort: field })}
      addressOf={({ id }) => `/o/${organization}/contacts/${id}`}
      onOpen={({ id: contactId }) =>
        void navigate({ to: '/o/$organization/contacts/$contactId', params: { organization, contactId } })
      }
      empty={
        filtered ? (
          <Empty title={t('list.noneSo')} />
        ) : (
          <Empty title={t('list.none')}>{t('list.noneLead')}</Empty>
        )
      }
    />
  );
}

function useContacts({ q, segment, deleted, sort }: ContactsSearch) {
  const api = useApi();
  const words = q?.trim();
  const filters = {
    limit: PAGE,
    ...(words === undefined ? {} : { q: words }),
    ...(segment === undefined ? {} : { segment_id: segment }),
    ...(deleted === true ? { include_deleted: true } : {}),
    ...(sort === undefined ? {} : { sort }),
  };
  return useList(
    ['contacts', 'list', filters],
    async (cursor, signal) => {
      const query = { ...filters, ...(cursor === undefined ? {} : { cursor }) };
      return (await api.GET('/v1/core/contacts', { params: { query }, signal })).data;
    },
    { enabled: words === undefined || words.length >= SHORTEST },
  );
}

function useColumns(): Column<Contact>[] {
  const t = useTranslations('contacts');
  return [
    {
      id: 'name',
      header: t('list.name'),
      sort: 'last_name',
      cell: (contact) => (
        <span className="flex items-center gap-2">
          <span className="truncate font-medium">
            <Names names={namesOfContact(contact)} />
          </span>
          {contact.deleted_at !== null && <Badge tone="bad">{t('deleted')}</Badge>}
        </span>
      ),
    },
    { id: 'email', header: t('fields.email'), cell: ({ email }) => email ?? '–' },
    { id: 'phone', header: t('fields.phone'), cell: ({ phone }) => phone ?? '–' },
    { id: 'external', header: t('fields.external_id'), cell: ({ external_id }) => external_id ?? '–' },
    {
      id: 'seen',
      header: t('fields.last_seen_at'),
      sort: 'last_seen_at',
      cell: ({ last_seen_at: at }) => <Time at={at} relative />,
    },
    {
      id: 'created',
      header: t('fields.created_at'),
      sort: 'created_at',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ];
}
