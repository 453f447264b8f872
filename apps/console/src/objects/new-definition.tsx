import type { Schemas } from '@customer-platform/client';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import type { NewFormProps } from '../ui/list-page.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useNewDraft } from '../ui/use-draft.tsx';
import { changeOf, NEW_DEFINITION } from './definition-draft.ts';
import { DefinitionForm } from './definition-form.tsx';
import { useObjectsChanged } from './use-objects.ts';

export function NewDefinition({ onClose, onMade }: NewFormProps): ReactNode {
  const t = useTranslations('objects');
  const api = useApi();
  const changed = useObjectsChanged();
  const form = useNewDraft({
    keptAs: 'objects/new',
    begin: () => NEW_DEFINITION,
    create: async (draft) => {
      const body = { slug: draft.slug, ...changeOf(draft) } as Schemas['CreateObjectDefinitionDto'];
      return (await api.POST('/v1/crm/object-definitions', { body })).data;
    },
    said: ({ name }) => t('made', { name }),
    changed,
    onMade,
  });
  return (
    <Dialog open onClose={onClose} place="side" title={t('new')} lead={t('newLead')}>
      <DefinitionForm {...form} onCancel={onClose} action={t('create')} />
    </Dialog>
  );
}
