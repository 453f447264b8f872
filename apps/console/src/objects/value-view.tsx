import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { nameOf } from '../contacts/use-contact.ts';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { Time } from '../ui/time.tsx';
import { CONTACT, type ObjectField } from './object.ts';
import { useRecordName } from './use-objects.ts';

const DAY = { dateStyle: 'medium', timeZone: 'UTC' } as const;
const NAMES_STAND_MS = 60_000;

/** A value as people read it, by the type of its field. */
export function ValueView({ field, value }: { field: ObjectField; value: unknown }): ReactNode {
  const t = useTranslations('objects');
  const format = useFormatter();
  if (value === null || value === undefined) return null;
  if (typeof value === 'number')
    return format.number(value, { maximumFractionDigits: 20, useGrouping: false });
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (typeof value !== 'string') return null;
  switch (field.type) {
    case 'date':
      return <span className="whitespace-nowrap tabular-nums">{format.dateTime(new Date(value), DAY)}</span>;
    case 'datetime':
      return <Time at={value} />;
    case 'enum':
      return field.options?.find((option) => option.value === value)?.label ?? value;
    case 'reference':
      return field.target === CONTACT ? (
        <ContactReference id={value} />
      ) : (
        <RecordReference target={field.target ?? ''} id={value} />
      );
    default:
      return <bdi>{value}</bdi>;
  }
}

interface ReferenceLinkProps {
  id: string;
  name: string | undefined;
}

function Name({ id, name }: ReferenceLinkProps): ReactNode {
  return name === undefined ? <code className="font-mono text-xs">{id.slice(0, 8)}</code> : <bdi>{name}</bdi>;
}

/** A contact by its name, and the way to its page; for who may not see contacts, its id. */
export function ContactReference({ id }: { id: string }): ReactNode {
  const may = useMay();
  const { organization } = usePerson();
  const name = useContactName(id);
  if (!may('core.contacts.read')) return <Name id={id} name={undefined} />;
  return (
    <Link
      to="/o/$organization/contacts/$contactId"
      params={{ organization: organization.slug, contactId: id }}
      title={id}
      className="text-accent underline"
      // The row that it stands in opens something else.
      onClick={(event) => event.stopPropagation()}
    >
      <Name id={id} name={name} />
    </Link>
  );
}

/** What a contact is called; a name stands for a while. */
function useContactName(id: string): string | undefined {
  const api = useApi();
  const may = useMay();
  const { data } = useOwnQuery({
    queryKey: ['objects', 'contact', id],
    enabled: may('core.contacts.read'),
    staleTime: NAMES_STAND_MS,
    queryFn: async ({ signal }) =>
      nameOf((await api.GET('/v1/core/contacts/{id}', { params: { path: { id } }, signal })).data),
  });
  return data;
}

/** A record by its name, and the way to it. */
export function RecordReference({ target, id }: { target: string; id: string }): ReactNode {
  const { organization } = usePerson();
  const name = useRecordName(target, id);
  return (
    <Link
      to="/o/$organization/objects/$definition"
      params={{ organization: organization.slug, definition: target }}
      search={{ open: id }}
      title={id}
      className="text-accent underline"
      onClick={(event) => event.stopPropagation()}
    >
      <Name id={id} name={name} />
    </Link>
  );
}
