import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/form.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { useSay } from '../ui/toasts.tsx';
import { CodeField, OtherFailure, useVerify } from './code-form.tsx';
import { QrCode } from './qr-code.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { useStepUp } from './step-up.tsx';

interface EnrollDialogProps {
  open: boolean;
  onClose: () => void;
  /** Something else has to follow, such as reading anew what one may do. */
  onDone?: () => void;
}

interface Enrolled {
  factorId: string;
  secret: string;
  uri: string;
}

/** A new factor: its name, its code for the camera, a first code to prove it, and the recovery codes with the first. */
export function EnrollDialog({ open, onClose, onDone }: EnrollDialogProps): ReactNode {
  const t = useTranslations('account');
  const [enrolled, setEnrolled] = useState<Enrolled>();
  const [codes, setCodes] = useState<readonly string[]>();
  const say = useSay();
  const stepUp = useStepUp();
  const close = (): void => {
    setEnrolled(undefined);
    setCodes(undefined);
    onClose();
  };
  const finish = (): void => {
    close();
    say(t('factorAdded'));
    onDone?.();
  };
  // What is shown once goes only by the button that says so.
  const dismiss = codes === undefined ? { onClose: close } : {};
  const title = codes === undefined ? t('addFactor') : t('recoveryCodes');
  return (
    <>
      <Dialog open={open} title={title} {...dismiss}>
        {codes !== undefined && <RecoveryCodes codes={codes} onKept={finish} />}
        {codes === undefined && enrolled === undefined && (
          <Naming around={stepUp.around} onEnrolled={setEnrolled} onCancel={close} />
        )}
        {codes === undefined && enrolled !== undefined && (
          <Proving
            enrolled={enrolled}
            onProved={(made) => (made === undefined ? finish() : setCodes(made))}
            onAnew={() => setEnrolled(undefined)}
          />
        )}
      </Dialog>
      {stepUp.dialog}
    </>
  );
}

interface NamingProps {
  around: ReturnType<typeof useStepUp>['around'];
  onEnrolled: (enrolled: Enrolled) => void;
  onCancel: () => void;
}

function Naming({ around, onEnrolled, onCancel }: NamingProps): ReactNode {
  const t = useTranslations('account');
  const api = useApi();
  const [name, setName] = useState(t('factorNameExample'));
  const enroll = useMutation({
    mutationFn: async () => {
      const body = { type: 'totp', name: name.trim() } as const;
      const { data } = await around(() => api.POST('/v1/identity/mfa/enroll', { body }));
      return data;
    },
    onSuccess: ({ factor_id: factorId, secret, otpauth_uri: uri }) => {
      if (secret !== undefined && uri !== undefined) onEnrolled({ factorId, secret, uri });
    },
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    enroll.mutate();
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-4">
      <TextField
        label={t('factorName')}
        hint={t('factorNameHint')}
        required
        maxLength={80}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {/* The first answer got lost on its way; the platform does not tell a secret twice. */}
      {enroll.isSuccess && enroll.data.secret === undefined && <Note tone="warn">{t('secretLost')}</Note>}
      {enroll.error !== null && <Failure error={enroll.error} />}
      <DialogActions>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button type="submit" look="main" busy={enroll.isPending}>
          {t('goOn')}
        </Button>
      </DialogActions>
    </form>
  );
}

interface ProvingProps {
  enrolled: Enrolled;
  onProved: (codes: readonly string[] | undefined) => void;
  onAnew: () => void;
}

function Proving({ enrolled: { factorId, secret, uri }, onProved, onAnew }: ProvingProps): ReactNode {
  const t = useTranslations('account');
  const [code, setCode] = useState('');
  const verify = useVerify(({ recovery_codes: codes }) => onProved(codes ?? undefined));
  const send = (event: FormEvent): void => {
    event.preventDefault();
    verify.mutate({ factor_id: factorId, code });
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-4">
      <p className="text-soft">{t('scan')}</p>
      <div className="flex flex-wrap items-start gap-4">
        <QrCode text={uri} label={t('qrCode')} />
        <div className="min-w-0 grow basis-48">
          <p className="text-xs font-medium">{t('secret')}</p>
          <p className="flex items-start gap-1">
            <code className="font-mono text-xs">{inFours(secret)}</code>
            <CopyButton text={secret} label={t('copySecret')} />
          </p>
          <p className="mt-2 text-xs text-soft">{t('secretLead')}</p>
        </div>
      </div>
      <CodeField value={code} onCode={setCode} error={verify.error} />
      <OtherFailure error={verify.error} />
      <DialogActions>
        <Button onClick={onAnew}>{t('anew')}</Button>
        <Button type="submit" look="main" busy={verify.isPending}>
          {t('confirm')}
        </Button>
      </DialogActions>
    </form>
  );
}

/** As one types it from one screen to another. */
function inFours(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(' ') ?? secret;
}
