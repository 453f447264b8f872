import { NetworkError, ProblemError } from '@customer-platform/client';
import { keepPreviousData } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Failure } from '../ui/notices.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { ContactName } from '../people/person.tsx';
import type { WrittenRule } from './rule.ts';

const TYPED_MS = 400;

interface PreviewProps {
  rule: unknown;
  /** What is wrong with it is known: it is not asked. */
  unfinished: boolean;
}

/** How many contacts the rule holds of, and some of them, as one builds it. */
export function Preview({ rule, unfinished }: PreviewProps): ReactNode {
  const t = useTranslations('segments');
  const may = useMay();
  const { data, error, isFetching, refetch } = usePreview(JSON.stringify(rule), !unfinished);
  // An older platform has no such route.
  if (error instanceof ProblemError && ['route_not_found', 'method_not_allowed'].includes(error.code))
    return null;
  return (
    <aside aria-label={t('preview')} className="flex flex-col gap-3 rounded-panel border border-line p-4">
      <h2 className="text-base font-semibold">{t('preview')}</h2>
      <div aria-live="polite" aria-busy={isFetching}>
        {unfinished ? (
          <p className="text-soft">{t('previewUnfinished')}</p>
        ) : error !== null ? (
          <PreviewFailure error={error} again={() => void refetch()} />
        ) : data === undefined ? (
          <div className="bones h-7 w-32" />
        ) : (
          <Count count={data.count} exact={data.exact} />
        )}
      </div>
      {!unfinished && error === null && data !== undefined && data.sample.length > 0 && (
        <div>
          <h3 className="text-xs font-medium text-soft">{t('sample')}</h3>
          <ul className="mt-1 flex flex-col gap-1">
            {data.sample.map(({ contact_id: id, external_id: externalId }) => (
              <li key={id} className="min-w-0 truncate">
                <ContactName id={id} externalId={externalId} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {!may('core.contacts.read') && (
        <p className="text-xs text-soft">{t('noSample', { permission: 'core.contacts.read' })}</p>
      )}
    </aside>
  );
}

function Count({ count, exact }: { count: number; exact: boolean }): ReactNode {
  const t = useTranslations('segments');
  const { number } = useFormatter();
  return (
    <>
      <p className="text-xl font-semibold tabular-nums">
        {t('matching', { count, shown: `${exact ? '' : '≈ '}${number(count)}` })}
      </p>
      <p className="text-xs text-soft">{exact ? t('exact') : t('estimate')}</p>
    </>
  );
}

function PreviewFailure({ error, again }: { error: unknown; again: () => void }): ReactNode {
  const t = useTranslations('segments');
  const busy =
    error instanceof ProblemError && ['rate_limited', 'dependency_unavailable'].includes(error.code);
  if (!busy && !(error instanceof NetworkError)) return <Failure error={error} again={again} />;
  return (
    <p className="text-soft">
      {t('previewBusy')}{' '}
      <button type="button" className="text-accent underline" onClick={again}>
        {t('previewAgain')}
      </button>
    </p>
  );
}

function usePreview(rule: string, enabled: boolean) {
  const api = useApi();
  const asked = useRested(rule, TYPED_MS);
  return useOwnQuery({
    queryKey: ['segments', 'preview', asked],
    queryFn: async ({ signal }) => {
      const body = { rule: JSON.parse(asked) as WrittenRule };
      return (await api.POST('/v1/core/segments/preview', { body, signal })).data;
    },
    enabled: enabled && asked === rule,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** The value once it has not changed for so long. */
function useRested(value: string, ms: number): string {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
