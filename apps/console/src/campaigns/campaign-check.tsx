import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { RenderedParts } from '../messages/rendered-parts.tsx';
import { isOneOf, REASONS } from '../messages/vocabulary.ts';
import { usePerson } from '../session/use-session.tsx';
import { Note } from '../ui/notices.tsx';
import { SKIP_REASONS } from './campaign.ts';
import type { CampaignCheck } from './use-check.ts';

/** Shows what a run would come to: who would get it, who not and why, and how it looks for one of them. */
export function Checked({ check }: { check: CampaignCheck }): ReactNode {
  const t = useTranslations('campaigns');
  const { complete, checked, reachable, excluded, message_problem: problem } = check;
  return (
    <div className="flex min-w-0 flex-col gap-3 text-ink">
      {reachable === 0 ? (
        <Note tone="warn">{t('checkReached', { reachable, checked })}</Note>
      ) : (
        <p className="font-medium">{t('checkReached', { reachable, checked })}</p>
      )}
      {!complete && <Note tone="warn">{t('checkPartial')}</Note>}
      <Reasons title={t('checkExcluded', { count: excluded })} counts={check.excluded_reasons} />
      <Reasons title={t('checkLater')} counts={check.waiting_reasons} />
      {problem?.code === 'permission_denied' && <p className="text-soft">{t('checkWithheld')}</p>}
      {problem !== null && problem.code !== 'permission_denied' && (
        <Note tone="bad">{t('checkUnmade', { detail: problem.detail })}</Note>
      )}
      {check.message !== null && <Message message={check.message} />}
    </div>
  );
}

interface ReasonsProps {
  title: string;
  counts: Readonly<Record<string, number>>;
}

/** Counts by reason, most first. */
function Reasons({ title, counts }: ReasonsProps): ReactNode {
  const { number } = useFormatter();
  const wordsOf = useReasonWords();
  const reasons = Object.entries(counts).sort(([, one], [, other]) => other - one);
  if (reasons.length === 0) return null;
  return (
    <div>
      <h3 className="text-xs font-medium">{title}</h3>
      <ul className="mt-1 flex flex-col gap-1 text-soft">
        {reasons.map(([reason, count]) => (
          <li key={reason} className="grid grid-cols-[3rem_minmax(0,1fr)] gap-x-2">
            <span className="text-end tabular-nums">{number(count)}</span>
            <span>{wordsOf(reason)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function useReasonWords(): (reason: string) => string {
  const t = useTranslations('campaigns');
  const words = useTranslations('messages');
  return (reason) => {
    if (isOneOf(SKIP_REASONS, reason)) return t(`skipReasons.${reason}`);
    return isOneOf(REASONS, reason) ? words(`reasons.${reason}`) : reason;
  };
}

function Message({ message }: { message: NonNullable<CampaignCheck['message']> }): ReactNode {
  const t = useTranslations('campaigns');
  const { organization } = usePerson();
  const params = { organization: organization.slug, contactId: message.contact_id };
  return (
    <section className="flex min-w-0 flex-col gap-2" aria-label={t('checkMessage')}>
      <h3 className="flex flex-wrap items-baseline gap-x-3 font-medium">
        {t('checkMessage')}
        <Link
          to="/o/$organization/contacts/$contactId"
          params={params}
          className="text-xs font-normal text-accent underline"
        >
          {t('checkContact')}
        </Link>
      </h3>
      <RenderedParts parts={message.parts} segments={message.sms_segments} />
    </section>
  );
}
