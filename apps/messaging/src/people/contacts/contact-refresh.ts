import { Injectable } from '@nestjs/common';
import { InternalClient } from '@customer-platform/authorization';
import {
  contactKey,
  coreDoesNotAnswer,
  CoreContacts,
  IDS_AT_ONCE,
  type LookedUpContact,
} from '@customer-platform/contact-refs';
import { Database } from '@customer-platform/database';
import { sharedFieldsOf } from '@customer-platform/events';
import { turns } from '@customer-platform/http';
import { UNKNOWN_PROFILE, type Contact, type ContactProfile } from '../../vocabulary/contacts/contact.js';
import { ContactsRepository } from './contacts.repository.js';

const TIMEOUT_MS = 300;
/** A chain of merges is asked for link by link, where nothing of it is known here. */
export const MOST_LINKS = 10;

/**
 * Asks core for contacts whose events have not come yet. Never called within a transaction: no connection waits for
 * another module.
 */
@Injectable()
export class ContactRefresh {
  constructor(
    private readonly core: InternalClient,
    private readonly coreContacts: CoreContacts,
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
  ) {}

  /**
   * Brings these contacts of one organization into the projection; ids nobody has are left out.
   * @returns the ids of those that core answers something of which cannot be read: of them it is as good as silent
   * @throws Problem `dependency_unavailable` when core is silent
   */
  async byIds(organizationId: string, ids: readonly string[]): Promise<readonly string[]> {
    const unreadable: string[] = [];
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
      const some = ids.slice(from, from + IDS_AT_ONCE);
      const found = await this.coreContacts.lookUp(organizationId, some);
      await this.save(organizationId, found.contacts);
      unreadable.push(...found.unreadable);
    }
    return unreadable;
  }

  /** As `byIds`, of one. @throws Problem `dependency_unavailable` when core is silent, or as good as that */
  async byId(organizationId: string, id: string): Promise<void> {
    const unreadable = await this.byIds(organizationId, [id]);
    if (unreadable.length > 0) throw coreDoesNotAnswer();
  }

  /**
   * The contact behind an id, merges followed to their end; core is asked for whoever on the way is not known here.
   * @throws Problem `dependency_unavailable` when core must be asked and is silent
   */
  async find(organizationId: string, id: string): Promise<Contact | undefined> {
    const contact = { organizationId, id };
    const known = async (): Promise<Contact | undefined> => {
      const found = await this.database.inOrganization(contact, (tx) => this.contacts.resolve(tx, [contact]));
      return found.get(contactKey(contact));
    };
    const asked = new Set<string>();
    let found = await known();
    for await (const _ of turns({ most: MOST_LINKS })) {
      if (found && found.state !== 'merged') return found;
      const missing = found?.mergedInto ?? id;
      if (asked.has(missing)) return found;
      asked.add(missing);
      await this.byId(organizationId, missing);
      found = await known();
    }
    return found;
  }

  /**
   * As `byIds`, of those that are not known here; merged ones whose survivor is not known are asked for anew.
   * @returns the ids of those that core answers something of which cannot be read
   * @throws Problem `dependency_unavailable` when core is silent
   */
  async unknown(organizationId: string, ids: readonly string[]): Promise<readonly string[]> {
    const missing = await this.database.inOrganization({ organizationId }, async (tx) => {
      const found = await this.contacts.resolve(
        tx,
        ids.map((id) => ({ organizationId, id })),
      );
      return ids.flatMap((id) => {
        const contact = found.get(contactKey({ organizationId, id }));
        if (!contact) return id;
        return contact.state === 'merged' ? [id, ...(contact.mergedInto ? [contact.mergedInto] : [])] : [];
      });
    });
    return this.byIds(organizationId, missing);
  }

  /**
   * Brings the contact that has an external id into the projection.
   * @returns its id, or undefined when nobody has it
   * @throws Problem `dependency_unavailable` when core is silent
   */
  async byExternalId(organizationId: string, externalId: string): Promise<string | undefined> {
    const found = await this.core.callOptional<{ contact_id: string }>('core', {
      method: 'POST',
      path: '/internal/contacts/address',
      body: { organization_id: organizationId, external_id: externalId, channel: 'email' },
      timeoutMs: TIMEOUT_MS,
    });
    if (!found) return undefined;
    await this.byId(organizationId, found.contact_id);
    return found.contact_id;
  }

  private async save(organizationId: string, found: readonly LookedUpContact[]): Promise<void> {
    // Of a merged contact core tells no profile: the one that is known here stays.
    const [merged, others] = [found.filter(isMerged), found.filter((each) => !isMerged(each))];
    await this.database.inOrganization({ organizationId }, async (tx) => {
      await this.contacts.save(tx, others.map(toContact));
      await this.contacts.write(tx, merged);
    });
  }
}

function isMerged({ state, contact }: LookedUpContact): boolean {
  return state === 'merged' && !contact;
}

function toContact({ contact, ...ref }: LookedUpContact): Contact {
  const told = (contact ?? UNKNOWN_PROFILE) as Partial<ContactProfile>;
  const profile: ContactProfile = {
    id: ref.id,
    ...sharedFieldsOf(told),
    attributes: told.attributes ?? {},
  };
  return { ...ref, profile };
}
