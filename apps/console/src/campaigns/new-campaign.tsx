import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import type { NewFormProps } from '../ui/list-page.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useNewDraft } from '../ui/use-draft.tsx';
import { bodyOf, NEW_CAMPAIGN } from './campaign.ts';
import { CampaignForm } from './campaign-form.tsx';
import { useCampaignsChanged } from './use-campaigns.ts';

export function NewCampaign({ onClose, onMade }: NewFormProps): ReactNode {
  const t = useTranslations('campaigns');
  const api = useApi();
  const changed = useCampaignsChanged();
  const form = useNewDraft({
    keptAs: 'campaigns/new',
    begin: () => NEW_CAMPAIGN,
    create: async (draft) => (await api.POST('/v1/messaging/campaigns', { body: bodyOf(draft) })).data,
    said: ({ name }) => t('made', { name }),
    changed,
    onMade,
  });
  return (
    <Dialog open onClose={onClose} place="side" title={t('new')} lead={t('newLead')}>
      <CampaignForm {...form} onCancel={onClose} action={t('create')} />
    </Dialog>
  );
}
