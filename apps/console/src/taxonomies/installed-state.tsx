import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge, type Tone } from '../ui/badge.tsx';
import type { Taxonomy } from './use-taxonomies.ts';
import type { Mode } from './enforcement-draft.ts';

const TONES: Record<Mode, Tone> = { off: 'neutral', warn: 'warn', strict: 'accent' };

/** Whether a taxonomy is installed, in which version, and how it is enforced. */
export function InstalledState({ installed }: Pick<Taxonomy, 'installed'>): ReactNode {
  const t = useTranslations('taxonomies');
  if (installed === null) return <span className="text-soft">{t('notInstalled')}</span>;
  const { version, mode, overrides } = installed;
  const others = Object.keys(overrides).length;
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <Badge tone={TONES[mode]}>{t(`modes.${mode}`)}</Badge>
      <span>{version}</span>
      {others > 0 && <span className="text-soft">{t('exceptions', { count: others })}</span>}
    </span>
  );
}
