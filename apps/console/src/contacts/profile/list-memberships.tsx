import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay, usePerson } from '../../session/use-session.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Select } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { useOwnQuery, useReadAnew } from '../../ui/queries.ts';
import { useSay } from '../../ui/toasts.tsx';
import { useChange } from '../use-change.ts';

const OFFERED = 200;

/** The static lists that hold a contact: into and out of them by hand. */
export function ListMemberships({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { organization } = usePerson();
  const held = useLists(contactId, { contact_id: contactId });
  const change = useMembership(contactId);
  const lists = held.data?.data ?? [];
  return (
    <Section title={t('profile.lists')}>
      {held.error !== null && <Failure error={held.error} again={() => void held.refetch()} />}
      {held.isPending && <div aria-busy className="bones h-8" />}
      {held.isSuccess && lists.length === 0 && <p className="text-soft">{t('profile.noLists')}</p>}
      {lists.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {lists.map(({ id, name }) => (
            <li key={id} className="flex items-center gap-2 py-1 pr-1 pl-3">
              <Link
                to="/o/$organization/contacts/lists"
                params={{ organization: organization.slug }}
                search={{ open: id }}
                className="min-w-0 grow truncate text-accent hover:underline"
              >
                {name}
              </Link>
              {may('crm.lists.update') && (
                <IconButton
                  label={t('profile.leave', { list: name })}
                  onClick={() => change.mutate({ id, name, into: false })}
                >
                  <X aria-hidden className="size-4" />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {held.data?.page.next_cursor != null && (
        <p className="text-xs text-soft">{t('profile.firstLists', { count: lists.length })}</p>
      )}
      {change.error !== null && <Failure error={change.error} />}
      {may('crm.lists.update') && (
        <Join
          contactId={contactId}
          inside={new Set(lists.map(({ id }) => id))}
          busy={change.isPending}
          onJoin={(list) => change.mutate({ ...list, into: true })}
        />
      )}
    </Section>
  );
}

interface JoinProps {
  contactId: string;
  inside: ReadonlySet<string>;
  busy: boolean;
  onJoin: (list: { id: string; name: string }) => void;
}

function Join({ contactId, inside, busy, onJoin }: JoinProps): ReactNode {
  const t = useTranslations('contacts');
  const [chosen, setChosen] = useState('');
  const all = useLists(contactId, {});
  const others = (all.data?.data ?? []).filter(({ id }) => !inside.has(id));
  if (others.length === 0) return null;
  const list = others.find(({ id }) => id === chosen) ?? others[0];
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (list !== undefined) onJoin(list);
      }}
    >
      <div className="min-w-0 grow">
        <Select
          label={t('profile.join')}
          value={list?.id ?? ''}
          onChange={(event) => setChosen(event.target.value)}
          options={others.map(({ id: value, name: label }) => ({ value, label }))}
        />
      </div>
      <Button type="submit" busy={busy}>
        {t('add')}
      </Button>
    </form>
  );
}

function useLists(contactId: string, filter: { contact_id?: string }) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['contacts', contactId, 'lists', filter],
    queryFn: async ({ signal }) => {
      const query = { ...filter, limit: OFFERED, sort: 'name' as const };
      return (await api.GET('/v1/crm/lists', { params: { query }, signal })).data;
    },
  });
}

interface Membership {
  id: string;
  name: string;
  into: boolean;
}

function useMembership(contactId: string) {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const listsChanged = useReadAnew('lists');
  const set = async ({ id, into }: Membership): Promise<void> => {
    if (into)
      await api.POST('/v1/crm/lists/{id}/members', {
        params: { path: { id } },
        body: { contact_ids: [contactId] },
      });
    else
      await api.DELETE('/v1/crm/lists/{id}/members/{contact_id}', {
        params: { path: { id, contact_id: contactId } },
      });
    await listsChanged();
  };
  const back = useChange(contactId, set);
  return useChange(contactId, set, (_, membership) => {
    const { name, into } = membership;
    const undo = (): Promise<unknown> => back.mutateAsync({ ...membership, into: !into });
    say(into ? t('profile.joined', { list: name }) : t('profile.left', { list: name }), undo);
  });
}
