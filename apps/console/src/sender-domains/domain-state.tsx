import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { STATE_TONES, type SenderDomain } from './sender-domain.ts';

/** Where a domain stands, in a word: one that is deleted sends nothing, whatever it was. */
export function DomainStateBadge({ domain }: { domain: SenderDomain }): ReactNode {
  const t = useTranslations('sender-domains');
  const { state, deleted_at: deletedAt, failing_since: failing } = domain;
  if (deletedAt !== null) return <Badge tone="neutral">{t('deletedState')}</Badge>;
  if (state === 'verified' && failing !== null) return <Badge tone="warn">{t('failing')}</Badge>;
  return <Badge tone={STATE_TONES[state]}>{t(`states.${state}`)}</Badge>;
}
