import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay, usePerson } from '../session/use-session.tsx';

/** A contact by the id that its organization knows it by, else by ours; leads to its page. */
export function ContactName({ id, externalId }: { id: string; externalId: string | null }): ReactNode {
  const may = useMay();
  const { organization } = usePerson();
  const name = externalId ?? <code className="font-mono text-xs">{id}</code>;
  if (!may('core.contacts.read')) return <span title={id}>{name}</span>;
  return (
    <Link
      to="/o/$organization/contacts/$contactId"
      params={{ organization: organization.slug, contactId: id }}
      title={id}
      className="text-accent hover:underline"
      // The row that it stands in opens something else.
      onClick={(event) => event.stopPropagation()}
    >
      {name}
    </Link>
  );
}
