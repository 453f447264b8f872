import { Outlet, useNavigate, useParams, useSearch, type LinkProps } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Failure, Forbidden, Note } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Tabs, type Tab } from '../ui/tabs.tsx';
import { ContactFacts } from './contact-facts.tsx';
import { nameOf, useContact, type Contact } from './use-contact.ts';

const FROM = '/o/$organization/contacts/$contactId' as const;
const LONGEST_TITLE = 120;

/** One contact: who it is, and its parts, each with an address of its own. */
export function ContactPage(): ReactNode {
  const may = useMay();
  if (!may('core.contacts.read')) return <Forbidden permission="core.contacts.read" />;
  return <Known />;
}

function Known(): ReactNode {
  const t = useTranslations('contacts');
  const { contactId } = useParams({ from: FROM });
  const { data, error, refetch } = useContact(contactId);
  const survivor = useSurvivor(data?.mergedInto);
  if (data === undefined || survivor !== undefined)
    return (
      <Page title={t('contact')}>
        {error === null ? (
          <div aria-busy className="bones h-24" />
        ) : (
          <Failure error={error} again={() => void refetch()} />
        )}
      </Page>
    );
  return <Shown contact={data.contact} />;
}

function Shown({ contact }: { contact: Contact }): ReactNode {
  const t = useTranslations('contacts');
  const { merged } = useSearch({ from: FROM });
  const tabs = useTabs(contact.id);
  const name = nameOf(contact);
  const title = name.length > LONGEST_TITLE ? `${name.slice(0, LONGEST_TITLE)}…` : name;
  return (
    <Page
      title={title}
      lead={contact.deleted_at === null ? undefined : <Badge tone="bad">{t('deleted')}</Badge>}
    >
      {merged !== undefined && <Note>{t('mergedHere', { id: merged })}</Note>}
      <ContactFacts contact={contact} />
      <Tabs label={t('parts.label')} tabs={tabs} />
      <Outlet />
    </Page>
  );
}

/** Goes on to the contact that the one asked for was merged into, and lets that page say so. */
function useSurvivor(mergedInto: string | undefined): string | undefined {
  const navigate = useNavigate({ from: FROM });
  const { contactId } = useParams({ from: FROM });
  useEffect(() => {
    if (mergedInto === undefined) return;
    void navigate({
      to: '.',
      params: (before) => ({ ...before, contactId: mergedInto }),
      search: (before) => ({ ...before, merged: contactId }),
      replace: true,
    });
  }, [contactId, mergedInto, navigate]);
  return mergedInto;
}

function useTabs(contactId: string): Tab[] {
  const t = useTranslations('contacts');
  const { organization } = useParams({ from: FROM });
  const link = (to: LinkProps['to']) => ({ to, params: { organization, contactId } }) as LinkProps;
  return [{ label: t('parts.timeline'), link: link('/o/$organization/contacts/$contactId') }];
}
