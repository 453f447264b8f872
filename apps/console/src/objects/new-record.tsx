import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import type { ObjectDefinition } from './object.ts';
import { RecordForm } from './record-form.tsx';
import { useCreateRecord } from './use-objects.ts';
import { draftsOf, givenIn, valuesOf } from './value-draft.ts';

interface NewRecordProps {
  definition: ObjectDefinition;
  onClose: () => void;
  onMade: (made: { id: string }) => void;
}

export function NewRecord({ definition, onClose, onMade }: NewRecordProps): ReactNode {
  const t = useTranslations('objects');
  const [draft, setDraft] = useState(() => draftsOf(definition, {}));
  const create = useCreateRecord(definition, onMade);
  return (
    <Dialog open onClose={onClose} place="side" title={t('newRecordOf', { name: definition.name })}>
      <RecordForm
        definition={definition}
        draft={draft}
        onChange={setDraft}
        onSend={() => create.mutate(givenIn(valuesOf(definition, draft)))}
        onCancel={onClose}
        busy={create.isPending}
        error={create.error}
        action={t('createRecord')}
      >
        {create.error !== null && <Failure error={create.error} />}
      </RecordForm>
    </Dialog>
  );
}
