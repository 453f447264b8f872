import { Link2, Link2Off } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Failure } from '../ui/notices.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { Time } from '../ui/time.tsx';
import type { Chain } from './audit-log.ts';

const READ_EVERY_MS = 30_000;

/** Whether the log is what it was: every row covers the one before it, and signed checkpoints cover them all. */
export function ChainState(): ReactNode {
  const api = useApi();
  const { data, error, refetch } = useOwnQuery({
    queryKey: ['audit', 'chain'],
    refetchInterval: READ_EVERY_MS,
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/v1/core/audit-log', { params: { query: { limit: 1 } }, signal });
      return data.chain;
    },
  });
  if (error !== null && data === undefined) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy className="bones h-14" />;
  return <Said chain={data} />;
}

function Said({ chain }: { chain: Chain }): ReactNode {
  const t = useTranslations('audit');
  const { status, head_seq, head_hash, broken_at_seq, verified_at, verified_seq, checkpoint } = chain;
  const broken = status === 'broken';
  const Icon = broken ? Link2Off : Link2;
  return (
    <details
      className={`rounded-panel px-4 py-3 ${broken ? 'bg-bad-soft text-bad' : 'bg-good-soft text-good'}`}
    >
      <summary className="font-medium" role={broken ? 'alert' : undefined}>
        <Icon aria-hidden className="mr-2 inline size-4" />
        {broken ? t('broken', { seq: broken_at_seq ?? 0 }) : t('intact', { count: head_seq })}
        {verified_at !== null && (
          <span className="ml-2 text-xs font-normal">
            {verified_seq === null ? t('verified') : t('verifiedUpTo', { seq: verified_seq })}{' '}
            <Time at={verified_at} relative />
          </span>
        )}
      </summary>
      <div className="mt-3 rounded-control bg-canvas p-3 text-ink">
        <p className="mb-3 max-w-[70ch] text-soft">{t('chainLead')}</p>
        <Details>
          <Detail name={t('verified')}>
            {verified_at === null ? t('notVerified') : <Time at={verified_at} />}
            {verified_seq !== null && (
              <p className="text-soft">
                {t('verifiedUpTo', { seq: verified_seq })}
                {head_seq > verified_seq && <>; {t('unverified', { count: head_seq - verified_seq })}</>}
              </p>
            )}
          </Detail>
          <Detail name={t('head')}>{head_seq}</Detail>
          <Detail name={t('hash')}>
            <Id value={head_hash} />
          </Detail>
          <Detail name={t('checkpoint')}>
            {checkpoint === null ? t('noCheckpoint') : t('checkpointAt', { seq: checkpoint.seq })}
          </Detail>
          {checkpoint !== null && (
            <>
              <Detail name={t('key')}>
                <Id value={checkpoint.kid} />
              </Detail>
              <Detail name={t('signature')}>
                <Id value={checkpoint.signature} />
              </Detail>
            </>
          )}
        </Details>
      </div>
    </details>
  );
}
