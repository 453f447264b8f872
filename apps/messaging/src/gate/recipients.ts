import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { Database, type WorkerTransaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { addressOf, type Contact } from '../contacts/contact.js';
import { ContactRefresh } from '../contacts/contact-refresh.js';
import { ContactsRepository } from '../contacts/contacts.repository.js';
import type { ClaimedSend } from './claimed-send.js';

/** Whom a send reaches, as things stand now. */
export type ResolvedRecipient =
  | {
      readonly kind: 'found';
      readonly contact: Contact | undefined;
      readonly address: string | null;
    }
  /** Core does not know the contact. */
  | { readonly kind: 'nobody' }
  /** Core does not answer. */
  | { readonly kind: 'silent' };

/**
 * Finds recipients anew at every attempt: a contact who changed the address gets the message there. What the projection
 * lacks is asked of core, outside of any transaction.
 */
@Injectable()
export class Recipients {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly refresh: ContactRefresh,
  ) {}

  /** Of a batch, by the send's id. */
  async resolve(sends: readonly ClaimedSend[]): Promise<Map<string, ResolvedRecipient>> {
    const silent = new Set<string>();
    const ids = await this.contactIds(sends, silent);
    let known = await this.load(sends, ids);
    const missing = sends.filter((send) => {
      const id = ids.get(send.id);
      return id !== undefined && !known.has(contactKey({ organizationId: send.organizationId, id }));
    });
    for (const [organizationId, group] of Map.groupBy(missing, (send) => send.organizationId)) {
      const wanted = group.map((send) => ids.get(send.id) ?? '');
      // Until core has answered: of all.
      let unanswered: readonly string[] = wanted;
      await this.ask(async () => {
        unanswered = await this.refresh.byIds(organizationId, wanted);
      });
      for (const { id } of group) if (unanswered.includes(ids.get(id) ?? '')) silent.add(id);
    }
    if (missing.length > 0) known = await this.load(sends, ids);
    const resolved = sends.map(
      async (send) => [send.id, await this.resolved(send, ids.get(send.id), known, silent)] as const,
    );
    return new Map(await Promise.all(resolved));
  }

  /** A device's token is asked for each time: the latest one counts, and no event tells of it. */
  private async reached(
    { organizationId, channel }: ClaimedSend,
    contact: Contact,
  ): Promise<ResolvedRecipient> {
    let token: string | null = null;
    if (channel === 'push' && contact.state === 'active') {
      const answered = await this.ask(async () => {
        token = await this.refresh.pushToken(organizationId, { contact_id: contact.id });
      });
      if (!answered) return { kind: 'silent' };
    }
    return { kind: 'found', contact, address: addressOf(contact.profile, channel, token) };
  }

  private async resolved(
    send: ClaimedSend,
    id: string | undefined,
    known: ReadonlyMap<string, Contact>,
    silent: ReadonlySet<string>,
  ): Promise<ResolvedRecipient> {
    const { recipient } = send;
    const contact =
      id === undefined ? undefined : known.get(contactKey({ organizationId: send.organizationId, id }));
    // A send to an address goes there, whoever owns it meanwhile.
    if ('address' in recipient) return { kind: 'found', contact, address: recipient.address };
    if (contact) return this.reached(send, contact);
    return { kind: silent.has(send.id) ? 'silent' : 'nobody' };
  }

  private async contactIds(sends: readonly ClaimedSend[], silent: Set<string>): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    for (const send of sends) {
      const { recipient, organizationId } = send;
      if (send.contactId !== null) ids.set(send.id, send.contactId);
      else if ('contact_id' in recipient) ids.set(send.id, recipient.contact_id);
      else if ('external_id' in recipient) {
        const id = await this.byExternalId(organizationId, recipient.external_id, () => silent.add(send.id));
        if (id !== undefined) ids.set(send.id, id);
      }
    }
    return ids;
  }

  private async byExternalId(
    organizationId: string,
    externalId: string,
    onSilence: () => void,
  ): Promise<string | undefined> {
    const ids = await this.database.inOrganization({ organizationId }, (tx) =>
      this.contacts.idsByExternalId(tx, [externalId]),
    );
    const known = ids.get(externalId);
    if (known !== undefined) return known;
    let found: string | undefined;
    const answered = await this.ask(async () => {
      found = await this.refresh.byExternalId(organizationId, externalId);
    });
    if (!answered) onSilence();
    return found;
  }

  private async load(
    sends: readonly ClaimedSend[],
    ids: ReadonlyMap<string, string>,
  ): Promise<Map<string, Contact>> {
    const refs = sends.flatMap(({ id, organizationId }) => {
      const contactId = ids.get(id);
      return contactId === undefined ? [] : [{ organizationId, id: contactId }];
    });
    if (refs.length === 0) return new Map();
    return this.database.acrossOrganizations((tx: WorkerTransaction) => this.contacts.resolve(tx, refs));
  }

  private async ask(question: () => Promise<void>): Promise<boolean> {
    try {
      await question();
      return true;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'dependency_unavailable') throw error;
      log.warn({ err: error }, 'Core does not answer; sends that need its word wait');
      return false;
    }
  }
}
