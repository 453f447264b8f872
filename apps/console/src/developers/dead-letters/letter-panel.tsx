import { RotateCcw } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../../session/use-session.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Detail, Details, Id } from '../../ui/details.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Code, Json } from '../../ui/json.tsx';
import { Failure, Note } from '../../ui/notices.tsx';
import { Time } from '../../ui/time.tsx';
import { causeOf, LETTER_TONES, payloadOf } from './dead-letter.ts';
import { useLettersOf, useReplay, type DeadLetter } from './use-letters.ts';

/** All failures of one event: it can fail once in storing and once in each that comes after. */
export function LetterPanel({ eventId, onClose }: { eventId: string; onClose: () => void }): ReactNode {
  const t = useTranslations('developers');
  const { data, error, refetch } = useLettersOf(eventId);
  return (
    <Dialog open onClose={onClose} place="side" title={t('letters.one')}>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-64" />}
      {data?.length === 0 && <Note>{t('letters.notFound')}</Note>}
      {data?.map((letter) => (
        <Letter key={letter.id} letter={letter} />
      ))}
    </Dialog>
  );
}

function Letter({ letter }: { letter: DeadLetter }): ReactNode {
  const t = useTranslations('developers');
  return (
    <article className="flex flex-col gap-4">
      <Cause letter={letter} />
      <Details>
        <Detail name={t('state')}>
          <Badge tone={LETTER_TONES[letter.state]}>{t(`letters.states.${letter.state}`)}</Badge>
        </Detail>
        <Detail name={t('letters.stage')}>{letter.stage}</Detail>
        <Detail name={t('letters.code')}>
          <code className="font-mono text-xs">{letter.code}</code>
        </Detail>
        <Detail name={t('letters.detail')}>{letter.detail}</Detail>
        <Detail name={t('letters.attempts')}>{letter.attempts}</Detail>
        <Detail name={t('letters.firstFailed')}>
          <Time at={letter.first_failed_at} />
        </Detail>
        <Detail name={t('letters.lastFailed')}>
          <Time at={letter.last_failed_at} />
        </Detail>
        {letter.external_id !== null && (
          <Detail name={t('externalId')}>
            <Id value={letter.external_id} />
          </Detail>
        )}
        <Detail name={t('letters.eventId')}>
          <Id value={letter.event_id} />
        </Detail>
        <Detail name={t('letters.correlationId')}>
          <Id value={letter.correlation_id} />
        </Detail>
      </Details>
      <Payload payload={letter.payload} />
      <Replay letter={letter} />
    </article>
  );
}

function Cause({ letter: { code, stage, state, closed_reason } }: { letter: DeadLetter }): ReactNode {
  const t = useTranslations('developers');
  const cause = causeOf(code);
  const closed = causeOf(closed_reason ?? '');
  return (
    <Note tone={state === 'replayed' ? 'good' : state === 'closed' ? 'neutral' : 'warn'}>
      <p>{cause === undefined ? t(`letters.stages.${stage}`) : t(`letters.causes.${cause}`)}</p>
      {closed !== undefined && closed !== cause && <p>{t(`letters.causes.${closed}`)}</p>}
      <p>{t(`letters.next.${state}`)}</p>
    </Note>
  );
}

function Payload({ payload }: { payload: string | null }): ReactNode {
  const t = useTranslations('developers');
  const value = payloadOf(payload);
  if (value === undefined) return <p className="text-soft">{t('letters.noPayload')}</p>;
  if (typeof value === 'string') return <Code text={value} label={t('letters.payload')} />;
  return <Json value={value} label={t('letters.payload')} />;
}

function Replay({ letter }: { letter: DeadLetter }): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const { mutate, isPending, error } = useReplay();
  if (letter.state !== 'pending' && letter.state !== 'replaying') return null;
  return (
    <>
      {error !== null && <Failure error={error} />}
      {may('core.jobs.replay') && (
        <div>
          <Button
            look="main"
            busy={isPending || letter.state === 'replaying'}
            onClick={() => mutate(letter.id)}
          >
            <RotateCcw aria-hidden className="size-4" />
            {t(letter.state === 'replaying' ? 'letters.states.replaying' : 'letters.replay')}
          </Button>
        </div>
      )}
    </>
  );
}
