import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Detail, Details } from '../ui/details.tsx';
import { Note } from '../ui/notices.tsx';
import { isOver, type ImportSummary } from './use-imports.ts';

const TONES: Record<ImportSummary['state'], Tone> = {
  queued: 'neutral',
  running: 'accent',
  completed: 'good',
  failed: 'bad',
};

/** The state, and that nothing was written where nothing was. */
export function ImportState({ of }: { of: ImportSummary }): ReactNode {
  const t = useTranslations('imports');
  return (
    <span className="inline-flex gap-1">
      <Badge tone={TONES[of.state]}>{t(`states.${of.state}`)}</Badge>
      {of.options.dry_run === true && <Badge>{t('dryRun')}</Badge>}
    </span>
  );
}

const COUNTS = ['created', 'updated', 'unchanged', 'skipped', 'failed'] as const;

/** How far it is, and what became of the rows. */
export function Outcome({ of }: { of: ImportSummary }): ReactNode {
  const t = useTranslations('imports');
  const { number } = useFormatter();
  const { rows, file } = of;
  return (
    <div className="flex flex-col gap-4">
      <div aria-live="polite" className="flex flex-col gap-1">
        <span>{t('done', { done: number(rows.total), all: number(file.rows) })}</span>
        {!isOver(of) && (
          <progress
            className="w-full"
            aria-label={t('progress')}
            value={rows.total}
            max={Math.max(file.rows, 1)}
          />
        )}
      </div>
      {of.failure_code !== null && <Note tone="warn">{t('fileUnavailable')}</Note>}
      <Details>
        {COUNTS.map((count) => (
          <Detail key={count} name={t(`counts.${count}`)}>
            <span className="tabular-nums">{number(rows[count])}</span>
          </Detail>
        ))}
      </Details>
    </div>
  );
}
