import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** To a contact's own page. */
export function ContactLink({ id, children }: { id: string; children: ReactNode }): ReactNode {
  const { organization = '' } = useParams({ strict: false });
  return (
    <Link
      to="/o/$organization/contacts/$contactId"
      params={{ organization, contactId: id }}
      className="text-accent underline"
      onClick={(event) => event.stopPropagation()}
    >
      {children}
    </Link>
  );
}
