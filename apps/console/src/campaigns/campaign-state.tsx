import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { CAMPAIGN_TONES, type Campaign } from './campaign.ts';

/** Where a campaign stands, in a word. */
export function CampaignStateBadge({ campaign }: { campaign: Campaign }): ReactNode {
  const t = useTranslations('campaigns');
  if (campaign.deleted_at !== null) return <Badge>{t('deletedState')}</Badge>;
  return <Badge tone={CAMPAIGN_TONES[campaign.state]}>{t(`states.${campaign.state}`)}</Badge>;
}
