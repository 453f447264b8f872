import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { usePerson, useSession } from '../session/use-session.tsx';
import { AccountButton } from './account-button.tsx';
import { useSwitch } from './use-switch.ts';
import { Button } from '../ui/button.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { Page, Section } from '../ui/page.tsx';
import { CodeForm } from '../account/code-form.tsx';
import { OwnFactors } from '../account/own-factors.tsx';
import { useFactors } from '../account/use-factors.ts';

/** All there is of the Console while the organization is suspended, or asks for a second factor that is not there. */
export function Restricted({ onLifted }: { onLifted: () => void }): ReactNode {
  const { restriction } = usePerson();
  return (
    <div className="mx-auto flex max-w-3xl flex-col">
      <div className="w-72 max-w-full p-4 pb-0 md:px-8">
        <AccountButton />
      </div>
      <main>
        {restriction === 'organization_suspended' ? <Suspended /> : <FactorNeeded onLifted={onLifted} />}
      </main>
    </div>
  );
}

function FactorNeeded({ onLifted }: { onLifted: () => void }): ReactNode {
  const t = useTranslations('account');
  const session = useSession();
  const { organization, restriction } = usePerson();
  const { data, error, refetch } = useFactors();
  // Said once: with the first factor come the recovery codes, which stay in sight until they are kept.
  const [without, setWithout] = useState<boolean>();
  if (without === undefined && data !== undefined) setWithout(data.factors.length === 0);
  const goOn = async (): Promise<void> => {
    await session.readAgain();
    onLifted();
  };
  return (
    <Page title={t('factorNeeded')} lead={t('factorNeededLead', { organization: organization.name })}>
      {error !== null && data === undefined && <Failure error={error} again={() => void refetch()} />}
      {restriction === null && (
        <Note tone="good">
          <p className="mb-3">{t('factorGiven')}</p>
          <Button look="main" onClick={onLifted}>
            {t('goOn')}
          </Button>
        </Note>
      )}
      {restriction !== null && data !== undefined && without === false && (
        <Section title={t('stepUp')} lead={t('giveCodeLead')}>
          <div className="max-w-sm">
            <CodeForm factors={data.factors} onVerified={goOn} />
          </div>
        </Section>
      )}
      {without === true && (
        <Section title={t('factors')} lead={t('factorsLead')}>
          <OwnFactors onAdded={() => void goOn()} />
        </Section>
      )}
    </Page>
  );
}

function Suspended(): ReactNode {
  const t = useTranslations('account');
  const { organization, organizations } = usePerson();
  const session = useSession();
  const switchTo = useSwitch();
  const [failed, setFailed] = useState<unknown>();
  const others = organizations.filter(({ id }) => id !== organization.id);
  return (
    <Page title={t('suspended')} lead={t('suspendedLead', { organization: organization.name })}>
      {failed !== undefined && <Failure error={failed} />}
      {others.length === 0 ? (
        <p className="text-soft">{t('noOthers')}</p>
      ) : (
        <Section title={t('others')}>
          <ul className="flex flex-col items-start gap-2">
            {others.map(({ id, name, slug }) => (
              <li key={id}>
                <Button onClick={() => void switchTo(slug).catch(setFailed)}>{name}</Button>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => void session.readAgain()}>{t('askAgain')}</Button>
        <Button look="quiet" onClick={() => void session.signOut()}>
          {t('signOutHere')}
        </Button>
      </div>
    </Page>
  );
}
