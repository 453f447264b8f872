import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../../session/use-session.tsx';
import { Json } from '../../ui/json.tsx';
import { Section } from '../../ui/page.tsx';
import { useContact } from '../use-contact.ts';
import { Identities } from './identities.tsx';
import { Lifecycle } from './lifecycle.tsx';
import { ListMemberships } from './list-memberships.tsx';
import { ProfileFields } from './profile-fields.tsx';
import { SegmentMemberships } from './segment-memberships.tsx';

const FROM = '/o/$organization/contacts/$contactId/profile' as const;

/** Who a contact is: its fields, the values by which it is found, and where it belongs. */
export function ProfilePage(): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { contactId } = useParams({ from: FROM });
  const { data } = useContact(contactId);
  if (data === undefined) return null;
  const { contact } = data;
  const hasAttributes = Object.keys(contact.attributes).length > 0;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8 xl:grid-cols-2">
      <ProfileFields contact={contact} etag={data.etag} />
      <div className="flex min-w-0 flex-col gap-8">
        {may('core.contacts.update') && <Identities contact={contact} />}
        <Section title={t('profile.attributes')}>
          {hasAttributes ? (
            <Json label={t('profile.attributes')} value={contact.attributes} />
          ) : (
            <p className="text-soft">{t('profile.noAttributes')}</p>
          )}
        </Section>
        {may('core.segments.read') && <SegmentMemberships contactId={contact.id} />}
        {may('crm.lists.read') && <ListMemberships contactId={contact.id} />}
        <Lifecycle contact={contact} />
      </div>
    </div>
  );
}
