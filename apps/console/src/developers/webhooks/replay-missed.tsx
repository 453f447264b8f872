import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Select } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { useChangeEndpoint, type Endpoint } from './use-endpoints.ts';

const HOUR_MS = 3_600_000;
/** A clock that is a little ahead asks for nothing older than what is kept. */
const SPARE_MS = 5 * 60_000;
const SPANS = { h1: 1, h24: 24, d3: 72, d7: 168 } as const;
type Span = keyof typeof SPANS;
const NAMES = Object.keys(SPANS) as Span[];

/** Asks for what failed or was missed since an instant to be told again. */
export function ReplayMissed({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }): ReactNode {
  const t = useTranslations('developers');
  const say = useSay();
  const [span, setSpan] = useState<Span>('h24');
  const { mutate, isPending, error } = useChangeEndpoint(endpoint.id);
  const replay = (): void => {
    const since = new Date(Date.now() - SPANS[span] * HOUR_MS + SPARE_MS).toISOString();
    mutate(
      // Whatever version is there: nothing of it is overwritten.
      { body: { replay_since: since, ...(endpoint.enabled ? {} : { enabled: true }) }, etag: undefined },
      {
        onSuccess: () => {
          say(t('hooks.replaying'));
          onClose();
        },
      },
    );
  };
  return (
    <Dialog open onClose={onClose} title={t('hooks.replay')} lead={t('hooks.replayLead')}>
      <Select
        label={t('hooks.replaySince')}
        value={span}
        options={NAMES.map((value) => ({ value, label: t(`hooks.spans.${value}`) }))}
        onChange={({ target }) => setSpan(NAMES.find((one) => one === target.value) ?? 'h24')}
      />
      {!endpoint.enabled && <p className="text-soft">{t('hooks.replayTurnsOn')}</p>}
      {error !== null && <Failure error={error} />}
      <DialogActions>
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button look="main" busy={isPending} onClick={replay}>
          {t('hooks.replay')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
