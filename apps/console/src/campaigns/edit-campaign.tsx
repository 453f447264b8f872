import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useSay } from '../ui/toasts.tsx';
import { useEdit, type Reading } from '../ui/use-edit.tsx';
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
  const say = useSay();
  const changed = useCampaignsChanged();
  const [draft, setDraft] = useState(() => draftOf(opened.data));
  const params = { path: { id: opened.data.id } };
  const edit = useEdit({
    opened,
    body: bodyOf(draft),
    bodyOf: (campaign: Campaign) => bodyOf(draftOf(campaign)),
    read: () => api.GET('/v1/messaging/campaigns/{id}', { params }),
    write: (body, on) => {
      const data = mergeTo(on.data.data, body.data);
      return api.PATCH('/v1/messaging/campaigns/{id}', { params, body: { ...body, data }, ifMatch: on.etag });
    },
    nameOf: (field) => t(`fields.${field}`),
    onTheirs: (now) => setDraft(draftOf(now)),
    onSaved: (now) => {
      void changed();
      say(t('saved', { name: now.name }));
      onDone();
    },
  });
  return (
    <CampaignForm
      draft={draft}
      onChange={setDraft}
      onSend={edit.save}
      onCancel={onDone}
      busy={edit.busy}
      error={edit.error}
      action={t('save')}
    >
      {edit.shown}
    </CampaignForm>
  );
}
