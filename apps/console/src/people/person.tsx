import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { namesOfContact, usePersonNames, type Known, type PersonNames } from './use-people.ts';
import { useProgramName, type Program } from './use-program-names.ts';

interface CalledProps {
  id: string;
  known: Known;
  /** Said in place of the id where who looks may not see the person, or none is there any more. */
  otherwise?: string | null | undefined;
  /** Shows the address beside the name. */
  withAddress?: boolean;
}

/** A person by name; an id alone is shown where the person is gone, or not for who looks. */
function Called({ id, known, otherwise, withAddress = false }: CalledProps): ReactNode {
  if (known.state === 'loading')
    return <span aria-busy className="bones inline-block h-4 w-28 align-middle" title={id} />;
  if (known.state === 'known') return <Names names={known} withAddress={withAddress} />;
  if (otherwise != null) return <bdi>{otherwise}</bdi>;
  return <code className="truncate font-mono text-xs">{id}</code>;
}

/** A name, and the address where it is wanted or there is no name. */
export function Names({
  names: { name, address },
  withAddress = false,
}: {
  names: PersonNames;
  withAddress?: boolean;
}): ReactNode {
  const t = useTranslations('people');
  if (name === undefined)
    return address === undefined ? <span className="italic">{t('anonymous')}</span> : <bdi>{address}</bdi>;
  return (
    <>
      <bdi>{name}</bdi>
      {withAddress && address !== undefined && <bdi className="ml-2 text-soft">{address}</bdi>}
    </>
  );
}

/** Says what a contact is called, for a title or a sentence. */
export function useNameOf(): (contact: Parameters<typeof namesOfContact>[0]) => string {
  const t = useTranslations('people');
  return (contact) => {
    const { name, address } = namesOfContact(contact);
    return name ?? address ?? t('anonymous');
  };
}

interface PersonProps {
  id: string;
  withAddress?: boolean;
}

interface ContactNameProps extends PersonProps {
  /** The id that the organization knows the contact by, where it is known without reading the contact. */
  externalId?: string | null;
  /** Leaves out the way to the contact's page. */
  plain?: boolean;
}

/** A contact by name, and the way to its page. */
export function ContactName({
  id,
  externalId,
  plain = false,
  withAddress = false,
}: ContactNameProps): ReactNode {
  const may = useMay();
  const { organization } = usePerson();
  const known = usePersonNames('contact', id);
  const called = <Called id={id} known={known} otherwise={externalId} withAddress={withAddress} />;
  if (plain || !may('core.contacts.read')) return <span title={id}>{called}</span>;
  return (
    <Link
      to="/o/$organization/contacts/$contactId"
      params={{ organization: organization.slug, contactId: id }}
      title={id}
      className="text-accent hover:underline"
      // The row that it stands in opens something else.
      onClick={(event) => event.stopPropagation()}
    >
      {called}
    </Link>
  );
}

/** A user by name; oneself is said to be so. */
export function UserName({ id, withAddress = false }: PersonProps): ReactNode {
  const t = useTranslations('people');
  const self = usePerson();
  const isSelf = self.id === id;
  const known = usePersonNames('user', isSelf ? undefined : id);
  if (isSelf) return <span title={id}>{t('you', { name: self.name })}</span>;
  return (
    <span title={id}>
      <Called id={id} known={known} withAddress={withAddress} />
    </span>
  );
}

/** A person that something was done to by name, anything else by its id. */
export function ResourceName({ type, id }: { type: string; id: string }): ReactNode {
  if (type === 'contacts') return <ContactName id={id} />;
  if (type === 'users') return <UserName id={id} />;
  return <code className="truncate font-mono text-xs text-soft">{id}</code>;
}

/** A key or an application by name, and what it is; by its id where it is gone, or not for who looks. */
function ProgramName({ kind, id }: { kind: Program; id: string }): ReactNode {
  const t = useTranslations('people');
  const name = useProgramName(kind, id);
  return (
    <span className="inline-flex max-w-full items-center gap-2" title={id}>
      <Badge>{t(`actors.${kind}`)}</Badge>
      {name === undefined ? (
        <code className="truncate font-mono text-xs">{id}</code>
      ) : (
        <bdi className="truncate">{name}</bdi>
      )}
    </span>
  );
}

/** Shows who did something: a person or a program by name, anything else by what it is. */
export function Actor({ type, id }: { type: string; id: string }): ReactNode {
  const t = useTranslations('people');
  if (type === 'user') return <UserName id={id} />;
  if (type === 'member') return <ContactName id={id} />;
  if (type === 'api_key' || type === 'oauth_client') return <ProgramName kind={type} id={id} />;
  const name = `actors.${type}` as 'actors.system';
  return (
    <span className="inline-flex max-w-full items-center gap-2">
      <Badge>{t.has(name) ? t(name) : type}</Badge>
      {type !== 'system' && <code className="truncate font-mono text-xs">{id}</code>}
    </span>
  );
}
