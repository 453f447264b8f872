import type { ReactNode } from 'react';
import { useNow, useTranslations } from 'use-intl';
import { ContactName } from '../people/person.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { Archive } from './archive.tsx';
import { Receipts } from './receipts.tsx';
import { RequestActs } from './request-acts.tsx';
import { RequestState } from './request-state.tsx';
import { nextOf, WORDS_NEED, type NextStep, type SubjectRequest } from './subject-request.ts';
import { useRequest } from './use-requests.ts';

/** One request: what is next, by when, what was decided, and what proves it. */
export function RequestPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('privacy');
  const { data, error, refetch } = useRequest(id);
  const title = data === undefined ? t('request') : t(`requestsOf.${data.data.type}`);
  return (
    <Dialog open onClose={onClose} place="side" title={title}>
      {data === undefined && error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-64" />}
      {data !== undefined && <Opened read={data} />}
    </Dialog>
  );
}

function Opened({ read }: { read: Reading<SubjectRequest> }): ReactNode {
  const t = useTranslations('privacy');
  const may = useMay();
  const { data: request } = read;
  return (
    <>
      <Next request={request} />
      <Facts request={request} />
      {!may(WORDS_NEED) && <p className="text-soft">{t('wordsHidden', { permission: WORDS_NEED })}</p>}
      {request.result !== null && <Archive request={request} />}
      {request.receipts.length > 0 && <Receipts receipts={request.receipts} />}
      {may('core.subject_requests.create') && <RequestActs read={read} />}
    </>
  );
}

const NEXT_TONES = {
  verify: 'neutral',
  erase: 'neutral',
  gather: 'neutral',
  carry_out: 'neutral',
  hand_over: 'good',
  refused: 'warn',
  residual: 'good',
  completed: 'good',
  rejected: 'neutral',
} as const satisfies Record<NextStep['step'], 'neutral' | 'warn' | 'good'>;

function Next({ request }: { request: SubjectRequest }): ReactNode {
  const t = useTranslations('privacy');
  const { step, modules } = nextOf(request, useNow());
  return <Note tone={NEXT_TONES[step]}>{t(`next.${step}`, { modules: modules.join(', ') })}</Note>;
}

function Facts({ request }: { request: SubjectRequest }): ReactNode {
  const t = useTranslations('privacy');
  return (
    <Details>
      <Detail name={t('state')}>
        <RequestState request={request} />
      </Detail>
      <Detail name={t('due')}>
        <span className="inline-flex flex-wrap items-center gap-2">
          <Time at={request.due_at} />
          {request.overdue && <Badge tone="bad">{t('overdue')}</Badge>}
        </span>
      </Detail>
      <Detail name={t('contact')}>
        <ContactName id={request.contact_id} withAddress />
      </Detail>
      <Detail name={t('received')}>
        <Time at={request.received_at} />
      </Detail>
      <Detail name={t('jurisdiction')}>{request.jurisdiction}</Detail>
      <Wanted request={request} />
      <Decided request={request} />
      {request.note !== null && (
        <Detail name={t('note')}>
          <Said text={request.note} />
        </Detail>
      )}
      {request.completed_at !== null && (
        <Detail name={t('ended')}>
          <Time at={request.completed_at} />
        </Detail>
      )}
      {request.residual_until !== null && (
        <Detail name={t('residualUntil')}>
          <Time at={request.residual_until} />
        </Detail>
      )}
      <Detail name={t('id')}>
        <Id value={request.id} />
      </Detail>
    </Details>
  );
}

/** Of a rectification and an opposition. */
function Wanted({ request: { corrections, purposes } }: { request: SubjectRequest }): ReactNode {
  const t = useTranslations('privacy');
  return (
    <>
      {corrections !== null && (
        <Detail name={t('corrections')}>
          <ul>
            {corrections.map(({ field, value }, at) => (
              <li key={at}>
                <Said text={`${field}: ${value ?? '—'}`} />
              </li>
            ))}
          </ul>
        </Detail>
      )}
      {purposes !== null && (
        <Detail name={t('purposes')}>
          <Said text={purposes.join(', ')} />
        </Detail>
      )}
    </>
  );
}

/** Verification, extension, rejection and outcome, as far as there are. */
function Decided({
  request: { verification, extension, rejection, outcome },
}: {
  request: SubjectRequest;
}): ReactNode {
  const t = useTranslations('privacy');
  return (
    <>
      {verification !== null && (
        <Detail name={t('verification')}>
          <Said text={verification.method} />
          {verification.reference !== null && (
            <>
              {' · '}
              <Said text={verification.reference} />
            </>
          )}
          {' · '}
          <Time at={verification.verified_at} />
        </Detail>
      )}
      {extension !== null && (
        <Detail name={t('extension')}>
          <Said text={extension.reason} /> · <Time at={extension.extended_at} />
        </Detail>
      )}
      {rejection !== null && (
        <Detail name={t('rejection')}>
          {t(`grounds.${rejection.ground}`)}
          {rejection.detail !== null && (
            <>
              {' · '}
              <Said text={rejection.detail} />
            </>
          )}
        </Detail>
      )}
      {outcome !== null && (
        <Detail name={t('outcome')}>
          <Said text={outcome} />
        </Detail>
      )}
    </>
  );
}

function Said({ text }: { text: string }): ReactNode {
  return <bdi className="wrap-anywhere">{text}</bdi>;
}
