import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Detail, Details } from '../ui/details.tsx';
import { Page, Section } from '../ui/page.tsx';
import { OwnFactors } from './own-factors.tsx';
import { OwnSessions } from './own-sessions.tsx';

/** What belongs to the person who is signed in, in whichever organization. */
export function AccountPage(): ReactNode {
  const t = useTranslations('account');
  const may = useMay();
  const person = usePerson();
  return (
    <Page title={t('title')} lead={t('lead')}>
      <Details>
        <Detail name={t('name')}>{person.name}</Detail>
        <Detail name={t('email')}>{person.email}</Detail>
        <Detail name={t('password')}>
          <a href="/oauth/password-reset/request" className="text-accent underline">
            {t('newPassword')}
          </a>
          <p className="text-xs text-soft">{t('newPasswordLead')}</p>
        </Detail>
      </Details>
      <Section title={t('factors')} lead={t('factorsLead')}>
        <OwnFactors />
      </Section>
      {may('identity.sessions.read') && <OwnSessions />}
    </Page>
  );
}
