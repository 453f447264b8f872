import { Send } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../../ui/button.tsx';
import { Failure, Note } from '../../ui/notices.tsx';
import { useErrorWord } from './delivery-attempts.tsx';
import { usePing } from './use-deliveries.ts';

/** Sends a ping, and says how that went. */
export function TryOut({ id }: { id: string }): ReactNode {
  const t = useTranslations('developers');
  const word = useErrorWord();
  const { mutate, isPending, data, error } = usePing(id);
  return (
    <div className="flex flex-col gap-2">
      <div>
        <Button busy={isPending} onClick={() => mutate()}>
          <Send aria-hidden className="size-4" />
          {t('hooks.test')}
        </Button>
      </div>
      {error !== null && <Failure error={error} />}
      {data !== undefined && !isPending && (
        <Note tone={data.error === null ? 'good' : 'warn'}>
          <p className="font-medium">{t(data.error === null ? 'hooks.testTaken' : 'hooks.testFailed')}</p>
          <p>
            {data.status !== null && `HTTP ${data.status} · `}
            {data.error !== null && `${word(data.error)} · `}
            {t('hooks.took', { ms: data.ms })}
          </p>
        </Note>
      )}
    </div>
  );
}
