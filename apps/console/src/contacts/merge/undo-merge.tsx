import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useNameOf } from '../../people/person.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { useOwnQuery, useReadAnew } from '../../ui/queries.ts';
import { useSay } from '../../ui/toasts.tsx';
import type { PastMerge, Preview } from './use-merge.ts';

interface UndoMergeProps {
  merge: PastMerge;
  onClose: () => void;
}

/** Asks before two contacts part, and shows what the one that stays would be. */
export function UndoMerge({ merge, onClose }: UndoMergeProps): ReactNode {
  const t = useTranslations('contacts');
  const nameOf = useNameOf();
  const [reason, setReason] = useState('');
  const { data, error, refetch } = useUndoPreview(merge.id);
  const undo = useUndoing(merge.id, onClose);
  const { merged_contact: merged } = merge;
  return (
    <Confirm
      open
      onClose={onClose}
      title={t('merges.undoTitle')}
      action={t('merges.undo')}
      busy={undo.isPending || (data === undefined && error === null)}
      error={undo.error}
      onConfirm={() => data !== undefined && undo.mutate({ etag: data.etag, reason: reason.trim() })}
    >
      <div className="flex flex-col gap-4">
        <p>
          {t.rich('merges.undoLead', { name: merged === null ? '–' : nameOf(merged).slice(0, 120), strong })}
        </p>
        {error !== null && <Failure error={error} again={() => void refetch()} />}
        {data === undefined && error === null && <div aria-busy className="bones h-12" />}
        {data !== undefined && <Stays data={data} />}
        <TextField
          label={t('merge.reason')}
          maxLength={500}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      </div>
    </Confirm>
  );
}

const strong = (words: ReactNode): ReactNode => (
  <strong dir="auto" className="text-ink">
    {words}
  </strong>
);

/** Shows the name and the values by which the survivor would go on. */
function Stays({ data: { preview } }: { data: Preview }): ReactNode {
  const t = useTranslations('contacts');
  const nameOf = useNameOf();
  return (
    <p>
      {t.rich('merges.stays', {
        name: nameOf(preview.contact).slice(0, 120),
        strong,
      })}{' '}
      {t('merges.moved', { ...preview.moved })}
    </p>
  );
}

function useUndoPreview(undo_merge_id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['contacts', 'undo', undo_merge_id],
    gcTime: 0,
    queryFn: async ({ signal }): Promise<Preview> => {
      const body = { undo_merge_id, dry_run: true };
      const { data, etag } = await api.POST('/v1/core/contacts/merge', { body, signal });
      return { preview: data, etag };
    },
  });
}

/** Undoes what was shown: a contact that has changed since then is looked at again first. */
function useUndoing(undo_merge_id: string, onDone: () => void) {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const changed = useReadAnew('contacts');
  return useMutation({
    mutationFn: async ({ etag, reason }: { etag: string | undefined; reason: string }) => {
      const body = { undo_merge_id, ...(reason === '' ? {} : { reason }) };
      const guard = etag === undefined ? {} : { ifMatch: etag };
      await api.POST('/v1/core/contacts/merge', { body, ...guard });
    },
    onSuccess: async () => {
      say(t('merge.undone'));
      onDone();
      await changed();
    },
    onError: changed,
  });
}
