import type { Schemas } from '@customer-platform/client';
import { useApi } from '../../api/api.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { useList } from '../../ui/list.ts';
import { useChange } from '../use-change.ts';
import { useTranslations } from 'use-intl';

export type Note = Schemas['NoteDto'];

const PAGE = 50;

/** A contact's notes: the pinned ones, and all by age. */
export function useNotes(contactId: string, pinned: boolean) {
  const api = useApi();
  return useList(['contacts', contactId, 'notes', { pinned }], async (cursor, signal) => {
    const query = {
      contact_id: contactId,
      pinned,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    };
    return (await api.GET('/v1/crm/notes', { params: { query }, signal })).data;
  });
}

/** Deletes a note, and offers to take that back. */
export function useDeleteNote(contactId: string) {
  const api = useApi();
  const say = useSay();
  const t = useTranslations('contacts');
  const restore = useChange(contactId, async (id: string) => {
    await api.POST('/v1/crm/notes/{id}/restore', { params: { path: { id } } });
  });
  return useChange(
    contactId,
    async (id: string) => {
      await api.DELETE('/v1/crm/notes/{id}', { params: { path: { id } } });
    },
    (_, id) => say(t('notes.deleted'), () => restore.mutateAsync(id)),
  );
}
