import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useCampaignNames } from '../campaigns/use-campaigns.ts';
import { CHANNELS, isOneOf } from '../messages/vocabulary.ts';
import { useMay } from '../session/use-session.tsx';
import { isId } from '../ui/search-params.ts';
import { OTHER_GROUPS, type Grouping } from './deliverability.ts';

/** Asks together for the names of campaigns, where groups are campaigns. */
export function useGroupNames(
  by: Grouping | undefined,
  groups: readonly (string | null)[],
): ReadonlyMap<string, string> {
  const may = useMay();
  const ids = groups.flatMap((group) => (group !== null && isId(group) ? group : []));
  return useCampaignNames(ids, by === 'campaign' && may('messaging.campaigns.read'));
}

interface GroupNameProps {
  by: Grouping;
  group: string | null;
  names: ReadonlyMap<string, string>;
}

/** What a group is called: a channel in words, a campaign by its name. */
export function GroupName({ by, group, names }: GroupNameProps): ReactNode {
  const t = useTranslations('deliverability');
  if (group === null) return t(`without.${by}`);
  if (group === OTHER_GROUPS) return t('others');
  if (by === 'channel' && isOneOf(CHANNELS, group)) return t(`channels.${group}`);
  const name = names.get(group);
  if (name !== undefined) return <bdi>{name}</bdi>;
  return by === 'campaign' ? <code className="font-mono text-xs">{group}</code> : <bdi>{group}</bdi>;
}
