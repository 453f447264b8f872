import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Time } from '../ui/time.tsx';

/** What a secret is called; by its own name where this version does not know it. */
export function useSecretName(): (name: string) => string {
  const t = useTranslations('messages');
  return (name) => {
    const key = `channelFields.${name}` as 'channelFields.password';
    return t.has(key) ? t(key) : name;
  };
}

interface SecretStateProps {
  set: boolean;
  at: string | null;
  fingerprint: string | null;
}

/** Whether a secret is set, by its fingerprint and since when: never itself. */
export function SecretState({ set, at, fingerprint }: SecretStateProps): ReactNode {
  const t = useTranslations('messages');
  if (!set) return <span className="text-soft">{t('secretNotSet')}</span>;
  return (
    <span>
      {t('secretSet')} {fingerprint !== null && <code className="font-mono text-xs">{fingerprint}</code>}
      {at !== null && (
        <span className="text-soft">
          {' '}
          · <Time at={at} />
        </span>
      )}
    </span>
  );
}
