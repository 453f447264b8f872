import type { Schemas } from '@customer-platform/client';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../../ui/badge.tsx';
import { TimeDifference } from '../../ui/time-difference.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Time } from '../../ui/time.tsx';
import type { SendHistory } from './use-chain.ts';
import { toneOf, useWords } from './words.tsx';

/** A message's states as it went through them, with the time between, and why it was held or not sent. */
export function SendStates({
  send,
  history,
}: {
  send: Schemas['SendDto'];
  history: SendHistory | undefined;
}): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  const { channel, address, state, reason, release_at } = send;
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-soft">
        {words.channel(channel)}
        {address !== null && <span>{address}</span>}
        <Badge tone={toneOf(state)}>{words.state(state)}</Badge>
      </p>
      {reason !== null && <p>{words.reason(reason)}</p>}
      {state === 'held' && release_at !== null && (
        <p>
          {t('timeline.released')} <Time at={release_at} />
        </p>
      )}
      {history?.error != null && <Failure error={history.error} again={history.again} />}
      {history?.steps !== undefined && (
        <ol aria-label={t('timeline.states')} className="mt-1 flex flex-col gap-1 border-l border-line pl-3">
          {history.steps.map((step, index) => (
            <li key={index} className="flex flex-wrap items-baseline gap-x-3">
              <span>{words.state(step.state)}</span>
              {index > 0 && <TimeDifference ms={step.afterMs} />}
              {step.attempt > 1 && (
                <span className="text-xs text-soft">{t('timeline.attempt', { attempt: step.attempt })}</span>
              )}
              {step.smtpCode !== null && (
                <span className="text-xs text-soft">
                  {t('timeline.smtp', { code: String(step.smtpCode) })}
                </span>
              )}
              {step.reason !== null && step.reason !== reason && (
                <span className="basis-full text-soft">{words.reason(step.reason)}</span>
              )}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
