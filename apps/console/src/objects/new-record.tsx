import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import type { NewFormProps } from '../ui/list-page.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useNewDraft } from '../ui/use-draft.tsx';
import type { ObjectDefinition } from './object.ts';
import { nameOfRecord } from './object.ts';
import { RecordForm } from './record-form.tsx';
import { useObjectsChanged } from './use-objects.ts';
import { draftsOf, givenIn, valuesOf } from './value-draft.ts';

interface NewRecordProps extends NewFormProps {
  definition: ObjectDefinition;
}

export function NewRecord({ definition, onClose, onMade }: NewRecordProps): ReactNode {
  const t = useTranslations('objects');
  const api = useApi();
  const changed = useObjectsChanged();
  const form = useNewDraft({
    keptAs: `objects/${definition.id}/new`,
    begin: () => draftsOf(definition, {}),
    create: async (draft) => {
      const params = { path: { slug: definition.id } };
      const body = { values: givenIn(valuesOf(definition, draft)) };
      return (await api.POST('/v1/crm/objects/{slug}', { params, body })).data;
    },
    said: (record) => t('recordMade', { name: nameOfRecord(definition, record) }),
    changed,
    onMade,
  });
  return (
    <Dialog open onClose={onClose} place="side" title={t('newRecordOf', { name: definition.name })}>
      <RecordForm definition={definition} {...form} onCancel={onClose} action={t('createRecord')} />
    </Dialog>
  );
}
