import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { Database, type WorkerTransaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { addressOf, type Contact } from '../contacts/contact.js';
import { ContactRefresh } from '../contacts/contact-refresh.js';
import { Devices } from '../contacts/devices.js';
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
    private readonly devices: Devices,
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
    const reached = sends.map((send) => {
      const id = ids.get(send.id);
      const { organizationId } = send;
      return { send, contact: id === undefined ? undefined : known.get(contactKey({ organizationId, id })) };
    });
    // Who has come all the same is known, whatever core did not answer.
    for (const { send, contact } of reached) if (contact) silent.delete(send.id);
    const tokens = await this.devicesOf(reached, silent);
    return new Map(
      reached.map(({ send, contact }) => [send.id, this.resolved(send, contact, tokens, silent)] as const),
    );
  }

  private resolved(
    send: ClaimedSend,
    contact: Contact | undefined,
    tokens: ReadonlyMap<string, string | null>,
    silent: ReadonlySet<string>,
  ): ResolvedRecipient {
    const { recipient, channel } = send;
    // A send to an address goes there, whoever owns it meanwhile.
    if ('address' in recipient) return { kind: 'found', contact, address: recipient.address };
    if (silent.has(send.id)) return { kind: 'silent' };
    if (!contact) return { kind: 'nobody' };
    return {
      kind: 'found',
      contact,
      address: addressOf(contact.profile, channel, tokens.get(send.id) ?? null),
    };
  }

  /** Of pushes the latest devices, by the send's id. */
  private async devicesOf(
    reached: readonly { readonly send: ClaimedSend; readonly contact: Contact | undefined }[],
    silent: Set<string>,
  ): Promise<Map<string, string | null>> {
    const tokens = new Map<string, string | null>();
    const pushes = reached.flatMap(({ send, contact }) =>
      send.channel === 'push' && !('address' in send.recipient) && contact?.state === 'active'
        ? [{ send, contact }]
        : [],
    );
    // At once: one whose core is slow to answer holds up no other channel of the batch for longer than one question.
    await Promise.all(
      [...Map.groupBy(pushes, ({ send }) => send.organizationId)].map(async ([organizationId, group]) => {
        const answered = await this.ask(async () => {
          const latest = await this.devices.latest(organizationId, [
            ...new Set(group.map(({ contact }) => contact.id)),
          ]);
          for (const { send, contact } of group) tokens.set(send.id, latest.get(contact.id) ?? null);
        });
        if (!answered) for (const { send } of group) silent.add(send.id);
      }),
    );
    return tokens;
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
