import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { STATE_TONES, type SubjectRequest } from './subject-request.ts';

export function RequestState({ request: { state } }: { request: SubjectRequest }): ReactNode {
  const t = useTranslations('privacy');
  return <Badge tone={STATE_TONES[state]}>{t(`states.${state}`)}</Badge>;
}
