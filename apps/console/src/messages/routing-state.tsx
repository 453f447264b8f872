import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import type { RoutingRule } from './routing-draft.ts';

/** Whether a rule sends now. */
export function RoutingState({ rule }: { rule: RoutingRule }): ReactNode {
  const t = useTranslations('messages');
  if (rule.deleted_at !== null) return <Badge tone="bad">{t('deletedState')}</Badge>;
  return <Badge tone={rule.enabled ? 'good' : 'neutral'}>{t(rule.enabled ? 'on' : 'off')}</Badge>;
}
