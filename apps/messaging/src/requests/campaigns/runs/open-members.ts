import { isInfrastructureError } from '@customer-platform/event-bus';
import type { Contact } from '../../../vocabulary/contacts/contact.js';
import type { Member } from './campaign-members.repository.js';

/** A member whose contact is not known here, or `device` whose devices are not, and by whose id core has to be asked. */
export interface OpenMember {
  readonly member: Member;
  readonly key: string;
  readonly device: boolean;
}

/** What is known here of members, by their contacts' ids. */
export interface Known {
  readonly contact: (id: string) => Contact | undefined;
  /** Of a contact; undefined while it is not known. */
  readonly device: (contact: Contact) => string | null | undefined;
}

/** What core has been asked for, and of whom its answer cannot be read or kept. */
interface Asked {
  readonly asked: ReadonlySet<string>;
  readonly unreadable: ReadonlySet<string>;
}

/** Members move into the head while core is asked: who has come since is as open as who was there before. */
export function sortOut(
  { asked, unreadable }: Asked,
  members: readonly Member[],
  known: Known,
): { ready: Member[]; open: OpenMember[]; unreadable: Member[] } {
  const sorted = { ready: [] as Member[], open: [] as OpenMember[], unreadable: [] as Member[] };
  for (const member of members) {
    const { contact_id: id } = member;
    const contact = known.contact(id);
    const missing = openKey(id, contact);
    const device = missing === undefined && contact !== undefined && known.device(contact) === undefined;
    const key = device ? contact.id : missing;
    if (key === undefined) sorted.ready.push(member);
    else if (!asked.has(askedFor(key, device))) sorted.open.push({ member, key, device });
    else if (unreadable.has(key) || unreadable.has(id)) sorted.unreadable.push(member);
    // Something was told of its devices while core was asked: the next piece asks anew.
    else if (!device) sorted.ready.push(member);
  }
  return sorted;
}

/** What is noted as asked for. */
export function askedFor(key: string, device: boolean): string {
  return device ? `devices of ${key}` : key;
}

/** Asks for all at once, and where that fails in halves: those at fault stand alone in the end. */
export async function apart(
  ids: readonly string[],
  ask: (ids: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  try {
    return await ask(ids);
  } catch (error) {
    if (isInfrastructureError(error)) throw error;
    if (ids.length === 1) return ids;
    const middle = ids.length >> 1;
    return [...(await apart(ids.slice(0, middle), ask)), ...(await apart(ids.slice(middle), ask))];
  }
}

/**
 * By whose id core has to be asked before anything can be said; undefined: by nobody's. Merged into one that is not
 * known counts as unknown: core says who it is.
 */
function openKey(contactId: string, contact: Contact | undefined): string | undefined {
  if (contact === undefined) return contactId;
  return contact.state === 'merged' ? (contact.mergedInto ?? contactId) : undefined;
}
