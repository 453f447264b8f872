import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useCampaignNames } from '../campaigns/use-campaigns.ts';
import { CHANNELS, isOneOf } from '../messages/vocabulary.ts';
import { useMay } from '../session/use-session.tsx';
import { OTHER_GROUPS, type Grouping } from './deliverability.ts';

/** What a group is called: a channel in words, a campaign by its name. */
export function GroupName({ by, group }: { by: Grouping; group: string | null }): ReactNode {
  const t = useTranslations('deliverability');
  const words = useTranslations('messages');
  const may = useMay();
  const names = useCampaignNames(by === 'campaign' && may('messaging.campaigns.read'));
  if (group === null) return t(`without.${by}`);
  if (group === OTHER_GROUPS) return t('others');
  if (by === 'channel' && isOneOf(CHANNELS, group)) return words(`channels.${group}`);
  const name = names.get(group);
  if (name !== undefined) return <bdi>{name}</bdi>;
  return by === 'campaign' ? <code className="font-mono text-xs">{group}</code> : <bdi>{group}</bdi>;
}
