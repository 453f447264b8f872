import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useEditDraft } from '../ui/use-draft.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { bodyOf, draftOf, mergeTo, type Campaign } from './campaign.ts';
import { CampaignForm } from './campaign-form.tsx';
import { useCampaignsChanged } from './use-campaigns.ts';

interface EditCampaignProps {
  opened: Reading<Campaign>;
  onDone: () => void;
}

/** Changes one that is not under way. */
export function EditCampaign({ opened, onDone }: EditCampaignProps): ReactNode {
  const t = useTranslations('campaigns');
  const api = useApi();
  const changed = useCampaignsChanged();
  const params = { path: { id: opened.data.id } };
  const form = useEditDraft({
    keptAs: `campaigns/${opened.data.id}`,
    opened,
    draftOf,
    bodyOf,
    read: () => api.GET('/v1/messaging/campaigns/{id}', { params }),
    write: (body, on) => {
      const data = mergeTo(on.data.data, body.data);
      return api.PATCH('/v1/messaging/campaigns/{id}', { params, body: { ...body, data }, ifMatch: on.etag });
    },
    nameOf: (field) => t(`fields.${field}`),
    said: ({ name }) => t('saved', { name }),
    changed,
    onDone,
  });
  return <CampaignForm {...form} action={t('save')} />;
}
