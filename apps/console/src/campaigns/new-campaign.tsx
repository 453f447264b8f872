import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { bodyOf, NEW_CAMPAIGN, type Campaign } from './campaign.ts';
import { CampaignForm } from './campaign-form.tsx';
import { useCreateCampaign } from './use-campaigns.ts';

interface NewCampaignProps {
  onClose: () => void;
  onMade: (campaign: Campaign) => void;
}

export function NewCampaign({ onClose, onMade }: NewCampaignProps): ReactNode {
  const t = useTranslations('campaigns');
  const [draft, setDraft] = useState(NEW_CAMPAIGN);
  const create = useCreateCampaign(onMade);
  return (
    <Dialog open onClose={onClose} place="side" title={t('new')} lead={t('newLead')}>
      <CampaignForm
        draft={draft}
        onChange={setDraft}
        onSend={() => create.mutate(bodyOf(draft))}
        onCancel={onClose}
        busy={create.isPending}
        error={create.error}
        action={t('create')}
      >
        {create.error !== null && <Failure error={create.error} />}
      </CampaignForm>
    </Dialog>
  );
}
