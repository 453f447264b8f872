import type { ItemOf } from '@customer-platform/client';
import { Monitor, Smartphone } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';

export type Session = ItemOf<'/v1/identity/sessions'>;

/** From what somebody signed in, as far as the browser said. */
export function Device({ session }: { session: Session }): ReactNode {
  const t = useTranslations('account');
  const { browser, os, type } = session.device;
  const Icon = type === 'mobile' || type === 'tablet' ? Smartphone : Monitor;
  const name = [browser, os].filter((each) => each !== null).join(' · ');
  return (
    <span className="inline-flex max-w-full items-center gap-2" title={session.user_agent ?? undefined}>
      <Icon aria-hidden className="size-4 shrink-0 text-soft" />
      <span className="truncate">{name === '' ? t('unknownDevice') : name}</span>
    </span>
  );
}

/** What is to be known of a session besides where it is: whether it is this one, how sure it is, whether it is over. */
export function SessionBadges({ session }: { session: Session }): ReactNode {
  const t = useTranslations('account');
  const { current, amr, status, ended_reason: reason, impersonation } = session;
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      {current && <Badge tone="accent">{t('thisSession')}</Badge>}
      {amr.includes('mfa') && <Badge tone="good">{t('withFactor')}</Badge>}
      {amr.includes('fed') && <Badge>{t('bySso')}</Badge>}
      {impersonation !== null && <Badge tone="warn">{t('impersonated')}</Badge>}
      {status === 'ended' && <Badge>{reason === null ? t('ended.revoked') : endedBy(t, reason)}</Badge>}
    </span>
  );
}

/** A reason that this Console does not know yet is shown as the API says it. */
function endedBy(t: ReturnType<typeof useTranslations<'account'>>, reason: string): string {
  const key = `ended.${reason}` as 'ended.revoked';
  return t.has(key) ? t(key) : reason;
}
