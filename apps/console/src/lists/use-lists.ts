import type { Schemas } from '@customer-platform/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';
import { useOwnQuery, useReadAnew } from '../ui/queries.ts';
import { useSay } from '../ui/toasts.tsx';
import type { Reading } from '../ui/use-edit.tsx';

export type ContactList = Schemas['ListDto'];

/** Others add to it and rename it, too. */
const READ_EVERY_MS = 15_000;

export function useContactList(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['lists', 'one', id],
    queryFn: async ({ signal }): Promise<Reading<ContactList>> =>
      api.GET('/v1/crm/lists/{id}', { params: { path: { id } }, signal }),
    refetchInterval: READ_EVERY_MS,
  });
}

export const useListsChanged = (): (() => Promise<void>) => useReadAnew('lists');

interface Membership {
  contactId: string;
  into: boolean;
}

/** Puts contacts into a list and takes them out, each with a step back. */
export function useMembership({ id, name }: Pick<ContactList, 'id' | 'name'>) {
  const t = useTranslations('lists');
  const api = useApi();
  const say = useSay();
  const changed = useListsChanged();
  const queries = useQueryClient();
  const { organization } = usePerson();
  /** Reads anew the lists, and those of the contact on its page. */
  const readAnew = async ({ contactId }: Membership): Promise<void> => {
    const queryKey = [organization.id, 'contacts', contactId, 'lists'];
    await Promise.all([changed(), queries.invalidateQueries({ queryKey })]);
  };
  /** @returns whether anything is another by it */
  const set = async ({ contactId, into }: Membership): Promise<boolean> => {
    if (into) {
      const body = { contact_ids: [contactId] };
      const { data } = await api.POST('/v1/crm/lists/{id}/members', { params: { path: { id } }, body });
      return data.added > 0;
    }
    const params = { path: { id, contact_id: contactId } };
    await api.DELETE('/v1/crm/lists/{id}/members/{contact_id}', { params });
    return true;
  };
  const back = useMutation({ mutationFn: set, onSuccess: (_, membership) => readAnew(membership) });
  return useMutation({
    mutationFn: set,
    onSuccess: async (isAnother, membership) => {
      await readAnew(membership);
      const { into } = membership;
      const undo = (): Promise<unknown> => back.mutateAsync({ ...membership, into: !into });
      if (isAnother) say(t(into ? 'added' : 'removed', { list: name }), undo);
      else say(t('wasThere', { list: name }));
    },
  });
}
