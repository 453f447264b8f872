import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Failure, Note } from '../../ui/notices.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { useReplayAll, type LetterFilters } from './use-letters.ts';

/** Runs again what the filters let through, and says how far it is. */
export function ReplayAll({ filters, onClose }: { filters: LetterFilters; onClose: () => void }): ReactNode {
  const t = useTranslations('developers');
  const say = useSay();
  const { mutate, isPending, isSuccess, error, queued, cancel } = useReplayAll(({ sum, stopped }) => {
    if (stopped) say(t('letters.replayStopped', { queued: sum }));
  });
  const close = (): void => {
    cancel();
    onClose();
  };
  const said = Object.entries(filters).filter(([, value]) => value !== undefined);
  return (
    <Dialog open onClose={close} title={t('letters.replayAll')} lead={t('letters.replayAllLead')}>
      <ul className="flex flex-wrap gap-x-4 gap-y-1">
        {said.length === 0 && <li className="text-soft">{t('letters.noFilter')}</li>}
        {said.map(([name, value]) => (
          <li key={name}>
            <code className="font-mono text-xs">
              {name} = <bdi>{value}</bdi>
            </code>
          </li>
        ))}
      </ul>
      {error !== null && <Failure error={error} />}
      {(isPending || isSuccess) && (
        <Note tone={isSuccess ? 'good' : 'neutral'}>
          {t(isSuccess ? 'letters.replayedSo' : 'letters.replayingSo', { queued })}
        </Note>
      )}
      <DialogActions>
        <Button onClick={close}>{t(isSuccess ? 'done' : 'cancel')}</Button>
        {!isSuccess && (
          <Button look="main" busy={isPending} onClick={() => mutate(filters)}>
            {t('letters.replay')}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}
