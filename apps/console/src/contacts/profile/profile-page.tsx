import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../session/use-session.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { useContact } from '../use-contact.ts';
import { Attributes } from './attributes.tsx';
import { Identities } from './identities.tsx';
import { Lifecycle } from './lifecycle.tsx';
import { ListMemberships } from './list-memberships.tsx';
import { ProfileFields } from './profile-fields.tsx';
import { SegmentMemberships } from './segment-memberships.tsx';

const MergeHistory = lazyPart(async () => (await import('../merge/merge-history.tsx')).MergeHistory);

const FROM = '/o/$organization/contacts/$contactId/profile' as const;

/** Who a contact is: its fields, the values by which it is found, and where it belongs. */
export function ProfilePage(): ReactNode {
  const may = useMay();
  const { contactId } = useParams({ from: FROM });
  const { data } = useContact(contactId);
  if (data === undefined) return null;
  const { contact } = data;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8 xl:grid-cols-2">
      <ProfileFields contact={contact} etag={data.etag} />
      <div className="flex min-w-0 flex-col gap-8">
        {may('core.contacts.update') && <Identities contact={contact} />}
        <Attributes contact={contact} />
        {may('core.segments.read') && <SegmentMemberships contactId={contact.id} />}
        {may('crm.lists.read') && <ListMemberships contactId={contact.id} />}
        {may('core.contacts.merge') && <MergeHistory contactId={contact.id} />}
        <Lifecycle contact={contact} />
      </div>
    </div>
  );
}
