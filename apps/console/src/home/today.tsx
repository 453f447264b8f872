import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { useLastPoints, useLastSends } from './use-last-day.ts';

/** What the last 24 hours led to: messages by state, points by kind. */
export function Today(): ReactNode {
  const t = useTranslations('home');
  const [sends, points] = [useLastSends(), useLastPoints()];
  if (!sends.enabled && !points.enabled) return null;
  return (
    <Section title={t('lastDay')}>
      <div className="grid gap-6 lg:grid-cols-2">
        <Parts title={t('sends')} none={t('noSends')} reading={sends} />
        <Parts title={t('points')} none={t('noPoints')} reading={points} />
      </div>
    </Section>
  );
}

interface PartsProps {
  title: string;
  none: string;
  reading: ReturnType<typeof useLastSends>;
}

function Parts({ title, none, reading: { enabled, data, error, refetch } }: PartsProps): ReactNode {
  if (!enabled) return null;
  if (error !== null) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy className="bones h-24" />;
  return <Told title={title} none={none} parts={data} />;
}

interface ToldProps {
  title: string;
  none: string;
  /** A part of it of one kind, by its name. */
  parts: Record<string, number>;
}

function Told({ title, none, parts }: ToldProps): ReactNode {
  const t = useTranslations('home');
  const { number } = useFormatter();
  const named = Object.entries(parts).sort(([, one], [, other]) => other - one);
  return (
    <div className="rounded-panel border border-line p-4">
      <h3 className="font-medium">{title}</h3>
      {named.length === 0 && <p className="mt-2 text-soft">{none}</p>}
      <dl className="mt-3 flex flex-wrap gap-x-8 gap-y-3">
        {named.map(([name, amount]) => (
          <div key={name} className="flex flex-col-reverse">
            <dt className="text-xs text-soft">
              {t.has(`parts.${name}` as 'parts.sent') ? t(`parts.${name}` as 'parts.sent') : name}
            </dt>
            <dd className="text-base font-semibold tabular-nums">{number(amount)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
