import type { Client } from '@customer-platform/client';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { batchedReads } from './batched-reads.ts';

/** A person's name, and where they are reached. */
export interface PersonNames {
  /** Undefined where none is known. */
  name: string | undefined;
  /** An address, a number, or the id that the organization knows the person by. */
  address: string | undefined;
}

/** The state of reading a person of whom only the id is known. */
export type Known =
  { state: 'loading' | 'forbidden' | 'gone' | 'failed' } | ({ state: 'known' } & PersonNames);

/** Ids that one filter takes. */
const MOST_IDS = 100;
const NAMES_STAND_MS = 60_000;

type Kind = 'contact' | 'user';
type Read = (id: string) => Promise<PersonNames | null>;

/** Finds the names of a contact in what a list or a page has of it. */
export function namesOfContact(contact: {
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  phone: string | null;
  external_id: string | null;
}): PersonNames {
  const name = [contact.first_name, contact.last_name].filter(Boolean).join(' ');
  return {
    name: name === '' ? undefined : name,
    address: contact.email ?? contact.phone ?? contact.external_id ?? undefined,
  };
}

function contactsOf(api: Client): Read {
  return batchedReads(MOST_IDS, async (ids) => {
    const query = { 'id[in]': [...ids], include_deleted: true, limit: MOST_IDS };
    const { data } = await api.GET('/v1/core/contacts', { params: { query } });
    return new Map(data.data.map((contact) => [contact.id, namesOfContact(contact)]));
  });
}

function usersOf(api: Client): Read {
  return batchedReads(MOST_IDS, async (ids) => {
    const query = { 'id[in]': [...ids], include_deleted: true, limit: MOST_IDS };
    const { data } = await api.GET('/v1/identity/users', { params: { query } });
    return new Map(data.data.map(({ id, name, email }) => [id, { name, address: email }]));
  });
}

const READERS = { contact: contactsOf, user: usersOf } as const;
const PERMISSIONS = { contact: 'core.contacts.read', user: 'identity.users.read' } as const;
const FOLDERS = { contact: 'contacts', user: 'organization' } as const;

/** The readers of an organization: whoever asks at once is answered by one call. */
const readersOf = new WeakMap<Client, Record<Kind, Read>>();

function readerOf(api: Client, kind: Kind): Read {
  let readers = readersOf.get(api);
  if (readers === undefined) {
    readers = { contact: READERS.contact(api), user: READERS.user(api) };
    readersOf.set(api, readers);
  }
  return readers[kind];
}

/** Reads what a person is called; a name stands for a while. */
export function usePersonNames(kind: Kind, id: string | undefined): Known {
  const api = useApi();
  const may = useMay();
  const mayRead = may(PERMISSIONS[kind]);
  const { data, error } = useOwnQuery({
    // A change of the person, which reads anew what begins so, reads the name too.
    queryKey: [FOLDERS[kind], id ?? '', 'names'],
    enabled: mayRead && id !== undefined,
    staleTime: NAMES_STAND_MS,
    queryFn: async () => (id === undefined ? null : readerOf(api, kind)(id)),
  });
  if (!mayRead) return { state: 'forbidden' };
  if (data === null) return { state: 'gone' };
  if (data !== undefined) return { state: 'known', ...data };
  return { state: error === null ? 'loading' : 'failed' };
}
