import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { NEW_DEFINITION } from './definition-draft.ts';
import { DefinitionForm } from './definition-form.tsx';
import { useCreateDefinition } from './use-objects.ts';

interface NewDefinitionProps {
  onClose: () => void;
  onMade: (made: { id: string }) => void;
}

export function NewDefinition({ onClose, onMade }: NewDefinitionProps): ReactNode {
  const t = useTranslations('objects');
  const [draft, setDraft] = useState(NEW_DEFINITION);
  const create = useCreateDefinition(onMade);
  return (
    <Dialog open onClose={onClose} place="side" title={t('new')} lead={t('newLead')}>
      <DefinitionForm
        draft={draft}
        onChange={setDraft}
        onSend={() => create.mutate(draft)}
        onCancel={onClose}
        busy={create.isPending}
        error={create.error}
        action={t('create')}
      >
        {create.error !== null && <Failure error={create.error} />}
      </DefinitionForm>
    </Dialog>
  );
}
