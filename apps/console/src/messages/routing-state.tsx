import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import type { RoutingRule } from './routing-draft.ts';

/** Whether a rule sends now. */
export function RoutingState({ rule }: { rule: RoutingRule }): ReactNode {
  const t = useTranslations('messages');
  if (rule.deleted_at !== null) return <Badge tone="bad">{t('deletedState')}</Badge>;
  if (rule.enabled && rule.standing === 'not_permitted') return <Badge tone="bad">{t('notPermitted')}</Badge>;
  if (rule.enabled && rule.standing === 'unowned') return <Badge tone="warn">{t('unowned')}</Badge>;
  return <Badge tone={rule.enabled ? 'good' : 'neutral'}>{t(rule.enabled ? 'on' : 'off')}</Badge>;
}
