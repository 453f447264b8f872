import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Id } from '../ui/details.tsx';
import { Note } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import type { Judgement } from './use-taxonomies.ts';

/** What stored events would have come to. */
export function JudgementOf({ judgement }: { judgement: Judgement | null }): ReactNode {
  const t = useTranslations('taxonomies');
  if (judgement === null) return <Note>{t('noEvents')}</Note>;
  const { judged, violating, complete, events } = judgement;
  return (
    <div role="status" className="flex flex-col gap-3">
      <Note tone={violating === 0 ? 'good' : 'warn'}>
        <p className="font-medium">{t('violating', { judged, violating })}</p>
        {!complete && <p>{t('incomplete')}</p>}
      </Note>
      {events
        .filter((event) => event.violating > 0)
        .map((event) => (
          <OneEvent key={event.event} event={event} />
        ))}
    </div>
  );
}

function OneEvent({ event }: { event: Judgement['events'][number] }): ReactNode {
  const t = useTranslations('taxonomies');
  const { event: name, judged, violating, samples } = event;
  return (
    <details className="rounded-panel border border-line p-3">
      <summary className="cursor-pointer">
        <code className="font-mono text-xs">{name}</code>{' '}
        <span className="text-soft">{t('violatingOf', { judged, violating })}</span>
      </summary>
      <ul className="mt-3 flex flex-col gap-3">
        {samples.map(({ event_id: id, occurred_at: at, violations }) => (
          <li key={id}>
            <p className="flex flex-wrap items-center gap-2">
              <Time at={at} /> <Id value={id} />
            </p>
            <ul>
              {violations.map(({ pointer, detail }) => (
                <li key={pointer}>
                  <code className="font-mono text-xs break-all">{pointer}</code> {detail}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </details>
  );
}
