import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { CAMPAIGN_TONES, outcomeOf, OUTCOME_TONES, type Campaign } from './campaign.ts';

/** Where a campaign stands, in a word. */
export function CampaignStateBadge({ campaign }: { campaign: Campaign }): ReactNode {
  const t = useTranslations('campaigns');
  if (campaign.deleted_at !== null) return <Badge>{t('deletedState')}</Badge>;
  const outcome = outcomeOf(campaign);
  if (outcome !== 'fine')
    return (
      <Badge tone={OUTCOME_TONES[outcome]}>
        {t(`outcomes.${outcome}`, { count: campaign.last_run?.counts['failed'] ?? 0 })}
      </Badge>
    );
  return <Badge tone={CAMPAIGN_TONES[campaign.state]}>{t(`states.${campaign.state}`)}</Badge>;
}
