import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import type { NewFormProps } from '../ui/list-page.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useNewDraft } from '../ui/use-draft.tsx';
import { bodyOf, NEW_ROUTING } from './routing-draft.ts';
import { RoutingForm } from './routing-form.tsx';
import { useRoutingChanged } from './use-routing.ts';

export function NewRouting({ onClose, onMade }: NewFormProps): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const changed = useRoutingChanged();
  const form = useNewDraft({
    keptAs: 'event-routing/new',
    begin: () => NEW_ROUTING,
    create: async (draft) => (await api.POST('/v1/messaging/event-routing', { body: bodyOf(draft) })).data,
    said: ({ name }) => t('routingMade', { name }),
    changed,
    onMade,
  });
  return (
    <Dialog open onClose={onClose} place="side" title={t('newRouting')} lead={t('newRoutingLead')}>
      <RoutingForm {...form} action={t('createRouting')} />
    </Dialog>
  );
}
