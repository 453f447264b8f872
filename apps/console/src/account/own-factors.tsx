import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus, ShieldCheck, Smartphone } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm, Dialog, DialogActions } from '../ui/dialog.tsx';
import { Empty, Failure, Note } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import { EnrollDialog } from './enroll-dialog.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { useStepUp } from './step-up.tsx';
import { factorsKey, useFactors, type Factor } from './use-factors.ts';

/** With so few left, it is time for new ones. */
const FEW_CODES = 3;

/** Second factors of the person, and the codes for when none is at hand. */
export function OwnFactors({ onAdded }: { onAdded?: () => void }): ReactNode {
  const t = useTranslations('account');
  const may = useMay();
  const [adding, setAdding] = useState(false);
  const { data, error, refetch } = useFactors();
  if (error !== null && data === undefined) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy className="bones h-28" />;
  const { factors, recovery_codes_left: left } = data;
  const add = (look: 'main' | 'plain'): ReactNode =>
    may('identity.mfa.manage') && (
      <Button look={look} onClick={() => setAdding(true)}>
        <Plus aria-hidden className="size-4" />
        {factors.length === 0 ? t('setUp') : t('addFactor')}
      </Button>
    );
  return (
    <>
      {factors.length === 0 ? (
        <Empty title={t('noFactors')}>
          <p className="mb-4">{t('noFactorsLead')}</p>
          {add('main')}
        </Empty>
      ) : (
        <>
          <Factors factors={factors} />
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <span>{t('codesLeft', { left })}</span>
            {left <= FEW_CODES && <Badge tone="warn">{t('fewCodes')}</Badge>}
            <span className="grow" />
            {may('identity.mfa.manage') && <NewCodes />}
            {add('plain')}
          </div>
          <p className="max-w-[70ch] text-soft">{t('lostFactor')}</p>
        </>
      )}
      <EnrollDialog open={adding} onClose={() => setAdding(false)} {...(onAdded && { onDone: onAdded })} />
    </>
  );
}

function Factors({ factors }: { factors: readonly Factor[] }): ReactNode {
  const t = useTranslations('account');
  return (
    <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
      {factors.map(({ id, name, confirmed_at: at }) => (
        <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
          <Smartphone aria-hidden className="size-4 shrink-0 text-soft" />
          <span className="min-w-0 grow font-medium">{name}</span>
          <span className="inline-flex items-center gap-1.5 text-xs text-soft">
            <ShieldCheck aria-hidden className="size-4 text-good" />
            {t('confirmed')} {at !== null && <Time at={at} />}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Ten new recovery codes in place of the former ones. */
function NewCodes(): ReactNode {
  const t = useTranslations('account');
  const api = useApi();
  const queries = useQueryClient();
  const { organization } = usePerson();
  const [asking, setAsking] = useState(false);
  const stepUp = useStepUp();
  const replace = useMutation({
    mutationFn: async () => {
      const { data } = await stepUp.around(() => api.POST('/v1/identity/mfa/recovery-codes'));
      return data.recovery_codes ?? [];
    },
    onSuccess: async () => {
      setAsking(false);
      await queries.invalidateQueries({ queryKey: factorsKey(organization.id) });
    },
  });
  const codes = replace.data;
  return (
    <>
      <Button onClick={() => setAsking(true)}>{t('newCodes')}</Button>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={t('newCodes')}
        action={t('makeCodes')}
        onConfirm={() => replace.mutate()}
        busy={replace.isPending}
        error={replace.error}
      >
        {t('newCodesLead')}
      </Confirm>
      <Dialog open={codes !== undefined} title={t('recoveryCodes')}>
        {codes?.length === 0 && (
          <>
            <Note tone="warn">{t('codesLost')}</Note>
            <DialogActions>
              <Button onClick={replace.reset}>{t('done')}</Button>
            </DialogActions>
          </>
        )}
        {codes !== undefined && codes.length > 0 && <RecoveryCodes codes={codes} onKept={replace.reset} />}
      </Dialog>
      {stepUp.dialog}
    </>
  );
}
