import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { isOneOf, REASONS, TONES, type State } from './vocabulary.ts';

/** Where a send stands, in a word. */
export function StateBadge({ state }: { state: State }): ReactNode {
  const t = useTranslations('messages');
  return <Badge tone={TONES[state]}>{t(`states.${state}`)}</Badge>;
}

/** Why, in plain words; a code that this version does not know as it is. */
export function Reason({ code }: { code: string | null }): ReactNode {
  const t = useTranslations('messages');
  if (code === null) return null;
  return isOneOf(REASONS, code) ? t(`reasons.${code}`) : <code className="font-mono text-xs">{code}</code>;
}
