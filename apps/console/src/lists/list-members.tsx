import type { Schemas } from '@customer-platform/client';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { ChooseContact } from '../people/choose-contact.tsx';
import { Actor, ContactName } from '../people/person.tsx';
import { useMay } from '../session/use-session.tsx';
import { IconButton } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { useMembership, type ContactList } from './use-lists.ts';

type Member = Schemas['ListMemberDto'];

const REFRESHED_MS = 15_000;

/** Shows who is on a list, since when and by whom; contacts are added and taken out by hand. */
export function ListMembers({ list }: { list: ContactList }): ReactNode {
  const t = useTranslations('lists');
  const api = useApi();
  const may = useMay();
  const change = useMembership(list);
  const isChanged = list.deleted_at === null && may('crm.lists.update');
  const members = useList<Member>(
    ['lists', 'members', list.id],
    async (cursor, signal) => {
      const params = { path: { id: list.id }, query: cursor === undefined ? {} : { cursor } };
      return (await api.GET('/v1/crm/lists/{id}/members', { params, signal })).data;
    },
    { refetchInterval: REFRESHED_MS },
  );
  const remove = (contactId: string): void => change.mutate({ contactId, into: false });
  return (
    <>
      {isChanged && may('core.contacts.read') && (
        <Section title={t('add')} lead={t('addLead')}>
          <ChooseContact
            except={undefined}
            onChoose={(contactId) => change.mutate({ contactId, into: true })}
          />
        </Section>
      )}
      {change.error !== null && <Failure error={change.error} />}
      <Section title={t('members')}>
        <DataTable
          label={t('members')}
          list={members}
          columns={useColumns(isChanged ? remove : undefined)}
          keyOf={({ contact_id: id }) => id}
          empty={<Empty title={t('nobody')} />}
        />
      </Section>
    </>
  );
}

function useColumns(remove: ((contactId: string) => void) | undefined): Column<Member>[] {
  const t = useTranslations('lists');
  return [
    {
      id: 'contact',
      header: t('contact'),
      cell: ({ contact_id: id }) => <ContactName id={id} withAddress />,
    },
    // Beside the name: at the end of the row it would be out of sight in a panel.
    ...(remove === undefined
      ? []
      : [
          {
            id: 'remove',
            header: t('acts'),
            cell: ({ contact_id: id }: Member) => (
              <IconButton label={t('remove')} onClick={() => remove(id)}>
                <X aria-hidden className="size-4" />
              </IconButton>
            ),
          },
        ]),
    { id: 'added', header: t('addedAt'), cell: ({ added_at: at }) => <Time at={at} /> },
    { id: 'by', header: t('addedBy'), cell: ({ added_by: { type, id } }) => <Actor type={type} id={id} /> },
  ];
}
