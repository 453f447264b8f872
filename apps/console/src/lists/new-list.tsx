import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Dialog } from '../ui/dialog.tsx';
import type { NewFormProps } from '../ui/list-page.tsx';
import { useNewDraft } from '../ui/use-draft.tsx';
import { bodyOf, ListForm, NEW_LIST } from './list-form.tsx';
import { useListsChanged } from './use-lists.ts';

export function NewList({ onClose, onMade }: NewFormProps): ReactNode {
  const t = useTranslations('lists');
  const api = useApi();
  const changed = useListsChanged();
  const form = useNewDraft({
    keptAs: 'lists/new',
    begin: () => NEW_LIST,
    create: async (draft) => (await api.POST('/v1/crm/lists', { body: bodyOf(draft) })).data,
    said: ({ name }) => t('made', { name }),
    changed,
    onMade,
  });
  return (
    <Dialog open onClose={onClose} place="side" title={t('new')} lead={t('newLead')}>
      <ListForm {...form} onCancel={onClose} action={t('create')} />
    </Dialog>
  );
}
