import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { Clock, Database, type WorkerTransaction } from '@customer-platform/database';
import { log, turns } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { addressOf, type Contact } from '../../vocabulary/contacts/contact.js';
import { ContactRefresh, MOST_LINKS } from '../../people/contacts/contact-refresh.js';
import { Devices } from '../../people/contacts/devices.js';
import { ContactsRepository } from '../../people/contacts/contacts.repository.js';
import type { ClaimedSend } from './claimed-send.js';
import { CircuitBreaker } from './circuit-breaker.js';

/** Core has answered that nobody has the external id. */
const NOBODY = Symbol('NOBODY');

/** Questions for one organization at once: core takes external ids singly. */
const ASKED_AT_ONCE = 10;

/** What is read of a send to find whom it reaches. */
type AddressedSend = Pick<ClaimedSend, 'id' | 'organizationId' | 'contactId' | 'recipient' | 'channel'>;

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
 * lacks is asked of core, outside of any transaction, of all organizations of a batch together: one for which core does not
 * answer holds up the others for the time of one question, and for a while is not asked for again.
 */
@Injectable()
export class Recipients {
  private readonly silences: CircuitBreaker;

  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly refresh: ContactRefresh,
    private readonly devices: Devices,
    clock: Clock,
  ) {
    this.silences = new CircuitBreaker(clock);
  }

  /** Of a batch, by the send's id. */
  async resolve(sends: readonly AddressedSend[]): Promise<Map<string, ResolvedRecipient>> {
    const silent = new Set<string>();
    const ids = await this.contactIds(sends, silent);
    let known = await this.load(sends, ids);
    const asked = new Set<string>();
    const unanswered = new Set<string>();
    for await (const _ of turns({ most: MOST_LINKS })) {
      const missing = sends.flatMap((send) => {
        const id = missingOf(send, ids, known);
        return id === undefined || asked.has(id) ? [] : [{ organizationId: send.organizationId, send, id }];
      });
      if (missing.length === 0) break;
      await byOrganization(missing, async (organizationId, group) => {
        const wanted = group.map(({ id }) => id);
        // Until core has answered: of all.
        let open: readonly string[] = wanted;
        await this.ask(organizationId, async () => {
          open = await this.refresh.byIds(organizationId, wanted);
        });
        for (const id of wanted) asked.add(id);
        for (const id of open) unanswered.add(id);
      });
      known = await this.load(sends, ids);
    }
    const reached = sends.map((send) => {
      const id = ids.get(send.id);
      const { organizationId } = send;
      return { send, contact: id === undefined ? undefined : known.get(contactKey({ organizationId, id })) };
    });
    // Also of those who came to somebody later for whom core had been asked by then; who has come all the same is known.
    for (const { send } of reached) {
      const missing = missingOf(send, ids, known);
      if (missing !== undefined && unanswered.has(missing)) silent.add(send.id);
    }
    const tokens = await this.devicesOf(reached, silent);
    return new Map(
      reached.map(({ send, contact }) => [send.id, this.resolved(send, contact, tokens, silent)] as const),
    );
  }

  private resolved(
    send: AddressedSend,
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
    reached: readonly { readonly send: AddressedSend; readonly contact: Contact | undefined }[],
    silent: Set<string>,
  ): Promise<Map<string, string | null>> {
    const tokens = new Map<string, string | null>();
    const pushes = reached.flatMap(({ send, contact }) =>
      send.channel === 'push' && !('address' in send.recipient) && contact?.state === 'active'
        ? [{ send, contact }]
        : [],
    );
    await byOrganization(
      pushes.map(({ send, contact }) => ({ organizationId: send.organizationId, send, contact })),
      async (organizationId, group) => {
        const note = (devices: ReadonlyMap<string, string | null>): void => {
          for (const { send, contact } of group)
            if (devices.has(contact.id)) tokens.set(send.id, devices.get(contact.id) ?? null);
        };
        const ids = [...new Set(group.map(({ contact }) => contact.id))];
        const known = await this.devices.known(organizationId, ids);
        note(known);
        // Of these alone core is asked, and these alone wait for its answer.
        const missing = ids.filter((id) => !known.has(id));
        if (missing.length === 0) return;
        const answered = await this.ask(organizationId, async () => {
          note(await this.devices.latest(organizationId, missing));
        });
        if (answered) return;
        for (const { send, contact } of group) if (missing.includes(contact.id)) silent.add(send.id);
      },
    );
    return tokens;
  }

  private async contactIds(
    sends: readonly AddressedSend[],
    silent: Set<string>,
  ): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    const named: { organizationId: string; send: AddressedSend; externalId: string }[] = [];
    for (const send of sends) {
      const { recipient, organizationId } = send;
      if (send.contactId !== null) ids.set(send.id, send.contactId);
      else if ('contact_id' in recipient) ids.set(send.id, recipient.contact_id);
      else if ('external_id' in recipient)
        named.push({ organizationId, send, externalId: recipient.external_id });
    }
    const known = new Map<string, Map<string, string | typeof NOBODY>>();
    for (const [organizationId, group] of Map.groupBy(named, (one) => one.organizationId))
      known.set(organizationId, await this.known(organizationId, group));
    await byOrganization(named, async (organizationId, group) => {
      const found = known.get(organizationId) ?? new Map<string, string>();
      await this.learn(organizationId, new Set(group.map((one) => one.externalId)), found);
      for (const { send, externalId } of group) {
        const id = found.get(externalId);
        if (id === undefined) silent.add(send.id);
        else if (id !== NOBODY) ids.set(send.id, id);
      }
    });
    return ids;
  }

  private known(
    organizationId: string,
    named: readonly { readonly externalId: string }[],
  ): Promise<Map<string, string>> {
    return this.database.inOrganization({ organizationId }, (tx) =>
      this.contacts.idsByExternalId(tx, [...new Set(named.map((one) => one.externalId))]),
    );
  }

  /** Asks core for the contacts that have external ids that are not among the found; what it did not answer stays out. */
  private async learn(
    organizationId: string,
    externalIds: ReadonlySet<string>,
    found: Map<string, string | typeof NOBODY>,
  ): Promise<void> {
    const missing = [...externalIds].filter((externalId) => !found.has(externalId));
    // The first alone: where it is not answered, none is.
    for (let from = 0; from < missing.length; from += from === 0 ? 1 : ASKED_AT_ONCE) {
      const some = missing.slice(from, from === 0 ? 1 : from + ASKED_AT_ONCE);
      const answered = await this.ask(organizationId, async () => {
        await Promise.all(
          some.map(async (externalId) => {
            found.set(externalId, (await this.refresh.byExternalId(organizationId, externalId)) ?? NOBODY);
          }),
        );
      });
      if (!answered) break;
    }
  }

  private async load(
    sends: readonly AddressedSend[],
    ids: ReadonlyMap<string, string>,
  ): Promise<Map<string, Contact>> {
    const refs = sends.flatMap(({ id, organizationId }) => {
      const contactId = ids.get(id);
      return contactId === undefined ? [] : [{ organizationId, id: contactId }];
    });
    if (refs.length === 0) return new Map();
    return this.database.acrossOrganizations((tx: WorkerTransaction) => this.contacts.resolve(tx, refs));
  }

  /** Asks core, unless it was silent a moment ago. @returns whether it has answered */
  private async ask(organizationId: string, question: () => Promise<void>): Promise<boolean> {
    if (!this.silences.mayAsk(organizationId)) return false;
    try {
      await question();
      this.silences.hasAnswered(organizationId);
      return true;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'dependency_unavailable') throw error;
      this.silences.wasSilent(organizationId);
      log.warn({ err: error, organizationId }, 'Core does not answer; sends that need its word wait');
      return false;
    }
  }
}

/** At once for all organizations: one for which core does not answer holds up no other. */
async function byOrganization<T extends { readonly organizationId: string }>(
  items: readonly T[],
  work: (organizationId: string, group: readonly T[]) => Promise<void>,
): Promise<void> {
  const groups = Map.groupBy(items, (item) => item.organizationId);
  await Promise.all([...groups].map(([organizationId, group]) => work(organizationId, group)));
}

/** Whom core has to be asked for: the contact, or where it was merged into somebody who is not known here, that one. */
function missingOf(
  { id: sendId, organizationId }: AddressedSend,
  ids: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, Contact>,
): string | undefined {
  const id = ids.get(sendId);
  if (id === undefined) return undefined;
  const contact = known.get(contactKey({ organizationId, id }));
  if (!contact) return id;
  return contact.state === 'merged' ? (contact.mergedInto ?? undefined) : undefined;
}
