import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { ReferenceHolds, type Transaction } from '@customer-platform/database';
import { checkAddress } from '../../../vocabulary/addresses/address.js';
import { AddressKeys } from '../../../vocabulary/addresses/address-keys.provider.js';
import type { Channel } from '../../../vocabulary/addresses/channel.js';
import { addressOf, type Contact } from '../../../vocabulary/contacts/contact.js';
import { ContactRefresh } from '../../../people/contacts/contact-refresh.js';
import { ContactsRepository } from '../../../people/contacts/contacts.repository.js';
import { Devices } from '../../../people/contacts/devices.js';
import { PushTokensRepository } from '../../../people/contacts/push-tokens.repository.js';
import type { SkipReason } from '../campaign.js';
import { apart, type Known, type OpenMember } from './open-members.js';

/** The organization of the members, and the channel by which they are written to. */
interface Aim {
  readonly organizationId: string;
  readonly channel: Channel;
}

/** A member who can be written to. */
export interface ReachedMember {
  readonly contact: Contact;
  readonly address: string;
  readonly addressKey: string;
}

/** The outcome of a member: a send, or a reason why there is none. */
export type Verdict = ReachedMember | SkipReason;

/** Knows of members of an audience what decides whether they get a message: for a run, and for a check before it. */
@Injectable()
export class KnownMembers {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly refresh: ContactRefresh,
    private readonly devices: Devices,
    private readonly tokens: PushTokensRepository,
    private readonly keys: AddressKeys,
    private readonly holds: ReferenceHolds,
  ) {}

  async of(tx: Transaction, { organizationId, channel }: Aim, ids: readonly string[]): Promise<Known> {
    const contacts = await this.contacts.resolve(
      tx,
      ids.map((id) => ({ organizationId, id })),
    );
    const active = [...contacts.values()].filter(({ state }) => state === 'active');
    const devices = channel === 'push' ? await this.tokens.latest(tx, active) : undefined;
    return {
      contact: (id) => contacts.get(contactKey({ organizationId, id })),
      device: (contact) => (devices && contact.state === 'active' ? devices.get(contactKey(contact)) : null),
    };
  }

  /** Those of the contacts that core is about to purge. */
  heldAmong(tx: Transaction, contacts: readonly Contact[]): Promise<Set<string>> {
    return this.holds.held(
      tx,
      'core.contacts',
      contacts.map(({ id }) => id),
    );
  }

  /**
   * Asks core. Never within a transaction.
   * @returns those of whom its answer cannot be read, or cannot be kept: they keep nobody else from coming
   * @throws Problem `dependency_unavailable`
   */
  async ask({ organizationId }: Aim, open: readonly OpenMember[]): Promise<readonly string[]> {
    const contacts = open.filter(({ device }) => !device).map(({ member }) => member.contact_id);
    const devices = open.filter(({ device }) => device).map(({ key }) => key);
    return [
      ...(await apart(contacts, (ids) => this.refresh.unknown(organizationId, ids))),
      ...(await apart(devices, async (ids) => {
        await this.devices.learn(organizationId, ids);
        return [];
      })),
    ];
  }

  judge(
    { organizationId, channel }: Aim,
    contact: Contact | undefined,
    held: ReadonlySet<string>,
    known: Known,
  ): Verdict {
    if (!contact || contact.state === 'merged') return 'recipient_unreachable';
    if (contact.state === 'erased') return 'erased';
    if (contact.state === 'deleted' || held.has(contact.id)) return 'contact_deleted';
    const text = addressOf(contact.profile, channel, known.device(contact) ?? null);
    if (text === null) return 'recipient_unreachable';
    const address = checkAddress(channel, text);
    if (!address) return 'invalid_address';
    return {
      contact,
      address: address.delivery,
      addressKey: this.keys.of(organizationId, address).current,
    };
  }
}

/** Gives the message to the first who has an address, and nobody two; `taken` and `reached` are told of each. */
export function withoutRepeats<Judged extends { readonly verdict: Verdict }>(
  judged: readonly Judged[],
  taken: Set<string>,
  reached: Set<string>,
): Judged[] {
  return judged.map((one) => {
    const { verdict } = one;
    if (typeof verdict === 'string') return one;
    if (taken.has(verdict.addressKey)) return { ...one, verdict: 'duplicate_address' as const };
    if (reached.has(verdict.contact.id)) return { ...one, verdict: 'duplicate_contact' as const };
    taken.add(verdict.addressKey);
    reached.add(verdict.contact.id);
    return one;
  });
}
