import { ProblemError, type BodyOf, type DataOf } from '@customer-platform/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ComponentProps, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Select, TextField } from '../ui/form.tsx';
import { Failure } from '../ui/notices.tsx';
import { factorsKey, type Factor } from './use-factors.ts';

type Verified = DataOf<'post', '/v1/identity/mfa/verify'>;

/** Gives a code of a factor, or a recovery code, for this session. */
export function useVerify(onVerified: (verified: Verified) => void | Promise<void>) {
  const api = useApi();
  const queries = useQueryClient();
  const { organization } = usePerson();
  return useMutation({
    mutationFn: async (body: BodyOf<'post', '/v1/identity/mfa/verify'>) =>
      (await api.POST('/v1/identity/mfa/verify', { body })).data,
    onSuccess: async (verified) => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: factorsKey(organization.id) }),
        queries.invalidateQueries({ queryKey: [organization.id, 'sessions'] }),
      ]);
      await onVerified(verified);
    },
  });
}

/** Proves that it is still the same person: by a code of one of the factors, or by a recovery code. */
export function CodeForm({
  factors,
  onVerified,
}: {
  factors: readonly Factor[];
  onVerified: () => void | Promise<void>;
}): ReactNode {
  const t = useTranslations('account');
  const [factorId, setFactorId] = useState(factors[0]?.id ?? '');
  const [code, setCode] = useState('');
  const [recovery, setRecovery] = useState(false);
  const verify = useVerify(onVerified);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    verify.mutate(recovery ? { recovery_code: code.trim() } : { factor_id: factorId, code });
  };
  const another = (): void => {
    setRecovery(!recovery);
    setCode('');
    verify.reset();
  };
  return (
    <form data-keeps-nothing onSubmit={send} className="flex flex-col gap-4">
      {!recovery && factors.length > 1 && (
        <Select
          label={t('factor')}
          value={factorId}
          options={factors.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) => setFactorId(event.target.value)}
        />
      )}
      {recovery ? (
        <TextField
          label={t('recoveryCode')}
          hint={t('recoveryCodeHint')}
          required
          maxLength={40}
          value={code}
          error={codeError(t, verify.error)}
          onChange={(event) => setCode(event.target.value)}
        />
      ) : (
        <CodeField value={code} onCode={setCode} error={verify.error} />
      )}
      <OtherFailure error={verify.error} />
      <div className="flex flex-wrap justify-between gap-2">
        <Button look="quiet" onClick={another}>
          {recovery ? t('useCode') : t('useRecoveryCode')}
        </Button>
        <Button type="submit" look="main" busy={verify.isPending}>
          {t('confirm')}
        </Button>
      </div>
    </form>
  );
}

interface CodeFieldProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange'> {
  value: string;
  onCode: (code: string) => void;
  error: unknown;
}

/** Six digits, however they are pasted. */
export function CodeField({ value, onCode, error, ...rest }: CodeFieldProps): ReactNode {
  const t = useTranslations('account');
  return (
    <TextField
      label={t('code')}
      hint={t('codeHint')}
      inputMode="numeric"
      autoComplete="one-time-code"
      pattern="[0-9]{6}"
      title={t('codeHint')}
      required
      value={value}
      error={codeError(t, error)}
      onChange={(event) => onCode(event.target.value.replace(/\D/g, '').slice(0, 6))}
      {...rest}
    />
  );
}

/** What no field of the code says. */
export function OtherFailure({ error }: { error: unknown }): ReactNode {
  const t = useTranslations('account');
  if (error === null || codeError(t, error) !== undefined) return null;
  return <Failure error={error} />;
}

function codeError(t: ReturnType<typeof useTranslations<'account'>>, error: unknown): string | undefined {
  if (!(error instanceof ProblemError)) return undefined;
  if (error.code === 'mfa_code_invalid') return t('codeWrong');
  if (error.code !== 'rate_limited') return undefined;
  return t('codeTooOften', { minutes: Math.max(1, Math.ceil((error.retryAfter ?? 0) / 60)) });
}
