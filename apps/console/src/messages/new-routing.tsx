import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { bodyOf, NEW_ROUTING, type RoutingRule } from './routing-draft.ts';
import { RoutingForm } from './routing-form.tsx';
import { useCreateRouting } from './use-routing.ts';

interface NewRoutingProps {
  onClose: () => void;
  onMade: (rule: RoutingRule) => void;
}

export function NewRouting({ onClose, onMade }: NewRoutingProps): ReactNode {
  const t = useTranslations('messages');
  const [draft, setDraft] = useState(NEW_ROUTING);
  const create = useCreateRouting(onMade);
  return (
    <Dialog open onClose={onClose} place="side" title={t('newRouting')} lead={t('newRoutingLead')}>
      <RoutingForm
        draft={draft}
        onChange={setDraft}
        onSend={() => create.mutate(bodyOf(draft))}
        busy={create.isPending}
        error={create.error}
        action={t('createRouting')}
      >
        {create.error !== null && <Failure error={create.error} />}
      </RoutingForm>
    </Dialog>
  );
}
