import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { ContactName } from '../people/person.tsx';
import { usePerson } from '../session/use-session.tsx';
import { Time } from '../ui/time.tsx';
import { CONTACT, type ObjectField } from './object.ts';
import { useRecordName } from './use-objects.ts';

const DAY = { dateStyle: 'medium', timeZone: 'UTC' } as const;

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
        <ContactName id={value} />
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
