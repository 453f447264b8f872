import type { DataOf, ItemOf } from '@customer-platform/client';
import { keepPreviousData, useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useOwnQuery, useReadAnew } from '../../ui/queries.ts';
import { useSay } from '../../ui/toasts.tsx';

export type Merge = DataOf<'post', '/v1/core/contacts/merge'>;
/** A merge as the history of a contact has it. */
export type PastMerge = ItemOf<'/v1/core/contacts/{id}/merges'>;
/** Whose value stays, of the fields where the other's was chosen. */
export type Keep = Record<string, 'survivor' | 'merged'>;

export interface Preview {
  preview: Merge;
  /** Of what was looked at: the merge is refused where that has changed since. */
  etag: string | undefined;
}

/** What a merge would do; nothing is written. */
export function usePreview(survivor_id: string, merged_id: string, keep: Keep) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['contacts', survivor_id, 'merge', merged_id, keep],
    placeholderData: keepPreviousData,
    gcTime: 0,
    queryFn: async ({ signal }): Promise<Preview> => {
      const body = { survivor_id, merged_id, keep, dry_run: true };
      const { data, etag } = await api.POST('/v1/core/contacts/merge', { body, signal });
      return { preview: data, etag };
    },
  });
}

/** Merges, goes to who stays, and offers to take it back. */
export function useMerge(organizationSlug: string) {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const navigate = useNavigate();
  const undo = useUndo();
  const changed = useReadAnew('contacts');
  return useMutation({
    mutationFn: async ({ preview, etag, keep, reason }: Preview & { keep: Keep; reason: string }) => {
      const { survivor_id, merged_id } = preview;
      const body = {
        survivor_id,
        merged_id,
        keep,
        ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
      };
      const guard = etag === undefined ? {} : { ifMatch: etag };
      return (await api.POST('/v1/core/contacts/merge', { body, ...guard })).data;
    },
    onSuccess: async ({ merge_id, survivor_id }) => {
      say(t('merge.done'), merge_id === null ? undefined : () => undo.mutateAsync(merge_id));
      await navigate({
        to: '/o/$organization/contacts/$contactId',
        params: { organization: organizationSlug, contactId: survivor_id },
      });
      await changed();
    },
  });
}

/** Takes a merge back: both contacts are there again. */
function useUndo() {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const changed = useReadAnew('contacts');
  return useMutation({
    mutationFn: async (undo_merge_id: string) => {
      await api.POST('/v1/core/contacts/merge', { body: { undo_merge_id } });
    },
    onSuccess: async () => {
      say(t('merge.undone'));
      await changed();
    },
  });
}
