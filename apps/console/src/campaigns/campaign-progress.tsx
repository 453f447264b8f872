import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { isOneOf } from '../messages/vocabulary.ts';
import { Badge } from '../ui/badge.tsx';
import { Note } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import {
  doneOf,
  outcomeOf,
  OUTCOME_TONES,
  progressOf,
  SKIP_REASONS,
  type Campaign,
  type CampaignRun,
  type ProgressPart,
} from './campaign.ts';

/** What colour says here stands beside it in words. */
const FILLS: Record<ProgressPart, string> = {
  out: 'bg-good',
  lost: 'bg-bad',
  skipped: 'bg-warn',
  waiting: 'bg-accent',
  pending: 'bg-edge',
};

/** How far the last run has come: a bar, and the same in figures. */
export function CampaignProgress({ campaign }: { campaign: Campaign }): ReactNode {
  const t = useTranslations('campaigns');
  const { last_run: run, deleted_at: deletedAt } = campaign;
  if (run === null) return deletedAt === null ? <Note>{t('neverRun')}</Note> : null;
  const { state } = run;
  const outcome = outcomeOf(campaign);
  return (
    <Section
      title={t('progress')}
      actions={
        <Badge tone={outcome === 'fine' ? 'neutral' : OUTCOME_TONES[outcome]}>
          {t(`runStates.${state}`)}
        </Badge>
      }
    >
      {outcome !== 'fine' && (
        <Note tone={outcome === 'reachedNobody' ? 'bad' : 'warn'}>
          {t(`outcomeLeads.${outcome}`, { count: run.counts['failed'] ?? 0 })}
        </Note>
      )}
      {state === 'paused' && <Note tone="warn">{t('pausedLead')}</Note>}
      {run.reason !== null && <Note tone="warn">{t('audienceGone')}</Note>}
      <p className="text-soft">
        {t('doneOf', doneOf(run))} · {t('startedAt')} <Time at={run.started_at} />
        {run.finished_at !== null && (
          <>
            {' '}
            · {t('finishedAt')} <Time at={run.finished_at} />
          </>
        )}{' '}
        · {t('templateVersion', { version: run.template_version })}
      </p>
      <Bar run={run} />
      <Figures run={run} />
    </Section>
  );
}

function Bar({ run }: { run: CampaignRun }): ReactNode {
  const audience = Math.max(1, run.counts['audience'] ?? 0);
  return (
    <div aria-hidden className="flex h-3 w-full overflow-hidden rounded-full bg-hover">
      {progressOf(run).map(({ part, count }) => (
        <span key={part} className={FILLS[part]} style={{ width: `${String((count / audience) * 100)}%` }} />
      ))}
    </div>
  );
}

function Figures({ run }: { run: CampaignRun }): ReactNode {
  const t = useTranslations('campaigns');
  const words = useTranslations('messages');
  const format = useFormatter();
  return (
    <ul className="flex flex-col gap-2">
      {progressOf(run).map(({ part, count, states }) => (
        <li
          key={part}
          className="grid grid-cols-[max-content_minmax(0,1fr)_max-content] items-baseline gap-x-2"
        >
          <span aria-hidden className={`size-2.5 rounded-full ${FILLS[part]}`} />
          <span>{t(`parts.${part}`)}</span>
          <span className="tabular-nums">{format.number(count)}</span>
          <span className="col-start-2 text-xs text-soft empty:hidden">
            {states
              .map((each) => t('stateCount', { state: words(`states.${each.state}`), count: each.count }))
              .join(' · ')}
            {part === 'skipped' && <Skipped reasons={run.skipped_reasons} />}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Skipped({ reasons }: { reasons: CampaignRun['skipped_reasons'] }): ReactNode {
  const t = useTranslations('campaigns');
  return Object.entries(reasons)
    .map(([reason, count]) =>
      t('stateCount', { state: isOneOf(SKIP_REASONS, reason) ? t(`skipReasons.${reason}`) : reason, count }),
    )
    .join(' · ');
}
