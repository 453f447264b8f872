import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Select } from '../../ui/form.tsx';
import type { Endpoint } from './use-endpoints.ts';

type Signing = Endpoint['signing'];
const SIGNINGS: readonly Signing[] = ['v1', 'v1a'];

/** By a secret that both sides know, or by a key that only the platform has. */
export function SigningSelect({
  value,
  onChange,
}: {
  value: Signing;
  onChange: (value: Signing) => void;
}): ReactNode {
  const t = useTranslations('developers');
  return (
    <Select
      label={t('hooks.signing')}
      hint={t(`hooks.signingHints.${value}`)}
      value={value}
      options={SIGNINGS.map((one) => ({ value: one, label: t(`hooks.signings.${one}`) }))}
      onChange={({ target }) => onChange(SIGNINGS.find((one) => one === target.value) ?? 'v1')}
    />
  );
}
