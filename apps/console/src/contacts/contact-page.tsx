import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Merge } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useNameOf } from '../people/person.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Failure, Forbidden, Note } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Tabs, type Tab } from '../ui/tabs.tsx';
import { ContactFacts } from './contact-facts.tsx';
import { useContact, type Contact } from './use-contact.ts';

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
  const nameOf = useNameOf();
  const name = nameOf(contact);
  const title = name.length > LONGEST_TITLE ? `${name.slice(0, LONGEST_TITLE)}…` : name;
  return (
    <Page
      title={title}
      actions={<MergeLink contact={contact} />}
      lead={contact.deleted_at === null ? undefined : <Badge tone="bad">{t('deleted')}</Badge>}
    >
      {merged !== undefined && <Note>{t('mergedHere', { id: merged })}</Note>}
      <div className="flex flex-col gap-6 xl:flex-row-reverse xl:items-start xl:gap-8">
        <div className="xl:sticky xl:top-8 xl:w-72 xl:shrink-0">
          <ContactFacts contact={contact} />
        </div>
        <div className="flex min-w-0 grow flex-col gap-6">
          <Tabs label={t('parts.label')} tabs={tabs} />
          <Outlet />
        </div>
      </div>
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

const PARTS = [
  { name: 'timeline', path: '', permissions: ['crm.timeline.read'] },
  { name: 'profile', path: '/profile', permissions: ['core.contacts.read'] },
  { name: 'consents', path: '/consents', permissions: ['core.consents.read'] },
  { name: 'preferences', path: '/preferences', permissions: ['messaging.preferences.read'] },
  { name: 'notes', path: '/notes', permissions: ['crm.notes.read'] },
  { name: 'activities', path: '/activities', permissions: ['crm.activities.read'] },
  { name: 'objects', path: '/objects', permissions: ['crm.objects.read'] },
  { name: 'points', path: '/points', permissions: ['loyalty.balances.read', 'loyalty.transactions.read'] },
] as const;

/** The parts that one may see. */
function useTabs(contactId: string): Tab[] {
  const t = useTranslations('contacts');
  const may = useMay();
  const { organization } = useParams({ from: FROM });
  return PARTS.filter(({ permissions }) => permissions.some(may)).map(({ name, path }) => ({
    label: t(`parts.${name}`),
    link: { to: `${FROM}${path}`, params: { organization, contactId } },
  }));
}

/** Leads to the merge of this contact with another. */
function MergeLink({ contact }: { contact: Contact }): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { organization } = useParams({ from: FROM });
  if (!may('core.contacts.merge') || contact.deleted_at !== null) return null;
  return (
    <ButtonLink
      to="/o/$organization/contacts/merge"
      params={{ organization }}
      search={{ survivor: contact.id }}
    >
      <Merge aria-hidden className="size-4" />
      {t('merge.action')}
    </ButtonLink>
  );
}
