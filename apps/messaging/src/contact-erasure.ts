import { Injectable } from '@nestjs/common';
import { Clock, Database, ReferenceHolds, type Transaction } from '@customer-platform/database';
import type { ErasedCounts, ErasureRequested, OwnErasure } from '@customer-platform/erasure';
import { identifierForms } from '@customer-platform/http';
import { AddressKeys } from './vocabulary/addresses/address-keys.provider.js';
import { checkAddress } from './vocabulary/addresses/address.js';
import { CHANNELS, type Channel } from './vocabulary/addresses/channel.js';
import { GateWriter } from './people/gate-lock/gate-writer.js';
import { EventWaits } from './people/event-waits/event-waits.repository.js';
import { SendsRepository, type Person } from './dispatch/sends/sends.repository.js';
import { ErasedMembers } from './requests/campaigns/erased-members.js';
import { ErasedDeliveries } from './webhook-endpoints/deliveries/erased-deliveries.js';
import { addressOf } from './vocabulary/contacts/contact.js';
import { ContactsRepository } from './people/contacts/contacts.repository.js';
import { PushTokensRepository } from './people/contacts/push-tokens.repository.js';

/** A contact's own opt-outs go on blocking, by the addresses they stood for. */
const KEEP_OPT_OUTS = `
  INSERT INTO preferences (organization_id, subject, channel, topic, subscribed, updated_at)
  SELECT $1, given.key, own.channel, own.topic, false, max(own.updated_at)
    FROM preferences AS own JOIN unnest($3::text[], $4::text[]) AS given (channel, key) USING (channel)
   WHERE own.organization_id = $1 AND own.subject = ANY($2::text[]) AND NOT own.subscribed
   GROUP BY given.key, own.channel, own.topic
  ON CONFLICT (organization_id, subject, channel, topic) DO UPDATE SET subscribed = false`;

const DROP_PREFERENCES = `
  DELETE FROM preferences WHERE organization_id = $1 AND subject = ANY($2::text[]) RETURNING 1`;

const DROP_NOTIFICATIONS = `
  DELETE FROM notifications WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) RETURNING 1`;

const DROP_CONSENTS = 'DELETE FROM consents WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])';

/** They block by their keys alone. */
const BLANK_SUPPRESSIONS = `
  UPDATE suppressions SET address = NULL, note = NULL
   WHERE organization_id = $1 AND key = ANY($2::text[]) AND scope = 'address' RETURNING 1`;

/** Blanks the key, too: what was lifted blocks nobody. */
const BLANK_LIFTED = `
  UPDATE lifted_suppressions SET address = NULL, note = NULL, key = NULL
   WHERE organization_id = $1 AND key = ANY($2::text[]) AND scope = 'address' RETURNING 1`;

interface KeyOfChannel {
  readonly channel: string;
  /** What new rows are stored under. */
  readonly current: string;
  readonly own: readonly string[];
}

const DROP_READS = `
  DELETE FROM notification_reads WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])`;

const DROP_CAPS = 'DELETE FROM cap_counters WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])';

/**
 * The right of erasure in messaging (messaging.md §13), in two steps. First nothing is sent to the person any more,
 * and what is on its way is waited for: it may still write down how it ended. Then what is unfinished is called off,
 * the person goes out of everything that was, suppressions and opt-outs stay as keyed hashes and still block.
 */
@Injectable()
export class ContactErasure implements OwnErasure {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly tokens: PushTokensRepository,
    private readonly sends: SendsRepository,
    private readonly waits: EventWaits,
    private readonly keys: AddressKeys,
    private readonly holds: ReferenceHolds,
    private readonly gate: GateWriter,
    private readonly deliveries: ErasedDeliveries,
    private readonly members: ErasedMembers,
    private readonly clock: Clock,
  ) {}

  /** When this returns, no hand-off to the contact begins any more and none is under way. Repeatable. */
  async stop({ organizationid: organizationId, data }: ErasureRequested): Promise<void> {
    const where = { organizationId };
    const { contactIds, addressKeys } = await this.database.inOrganization(where, async (tx) => {
      // Who is writing a send to the contact is waited for; who comes later is told that it is gone.
      await this.holds.hold(tx, 'core.contacts', data.contact_id);
      const family = data.contact_ids ?? (await this.family(tx, data.contact_id));
      const person = await this.personOf(tx, family);
      await this.contacts.close(tx, person.contactIds);
      await this.sends.cancelOfPerson(tx, person, this.clock.now());
      return person;
    });
    await this.gate.write(where, [...addressKeys, ...subjectsOf(contactIds)], () => Promise.resolve());
  }

  /** The contact and all who were merged into it; never whom it was merged into, from whom it may have parted since. */
  family(tx: Transaction, contactId: string): Promise<readonly string[]> {
    return this.contacts.withMerged(tx, contactId);
  }

  /** Their addresses: the answer of a suppression or of a send says no more. */
  async names(tx: Transaction, contactIds: readonly string[]): Promise<readonly string[]> {
    const profiles = await this.contacts.profiles(tx, contactIds);
    return profiles.flatMap(({ email, phone }) => [email, phone].filter((address) => address !== null));
  }

  /** Erases the contact and all who were merged into it, in the caller's transaction, after {@link stop}. */
  async erase(
    tx: Transaction,
    contactIds: readonly string[],
    { data }: ErasureRequested,
  ): Promise<ErasedCounts> {
    await this.holds.hold(tx, 'core.contacts', data.contact_id);
    const person = await this.personOf(tx, contactIds);
    const { known } = person;
    await this.contacts.erase(tx, contactIds);
    await this.tokens.remove(tx, contactIds);
    await this.waits.forget(tx, contactIds);
    const sends = await this.sends.erase(tx, person, this.clock.now());
    const members = await this.members.erase(tx, contactIds);
    const subjects = subjectsOf(contactIds);
    await tx.query(KEEP_OPT_OUTS, [
      tx.organizationId,
      subjects,
      known.map(({ channel }) => channel),
      known.map(({ current }) => current),
    ]);
    const preferences = await tx.query(DROP_PREFERENCES, [tx.organizationId, subjects]);
    const notifications = await tx.query(DROP_NOTIFICATIONS, [tx.organizationId, contactIds]);
    await tx.query(DROP_READS, [tx.organizationId, contactIds]);
    await tx.query(DROP_CAPS, [tx.organizationId, contactIds]);
    await tx.query(DROP_CONSENTS, [tx.organizationId, contactIds]);
    const deliveries = await this.deliveries.erase(tx, contactIds);
    const suppressions = await tx.query(BLANK_SUPPRESSIONS, [tx.organizationId, person.addressKeys]);
    const lifted = await tx.query(BLANK_LIFTED, [tx.organizationId, person.addressKeys]);
    return {
      sends,
      campaign_members: members,
      notifications: notifications.length,
      preferences: preferences.length,
      suppressions: suppressions.length + lifted.length,
      webhook_deliveries: deliveries,
    };
  }

  /** Whoever has parted from the erased is a recipient again. */
  async part(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    const parted = await this.contacts.part(tx, contactIds);
    await this.waits.wake(tx, parted);
    await this.tokens.forget(
      tx,
      parted.map(({ id }) => id),
    );
  }

  private async personOf(
    tx: Transaction,
    contactIds: readonly string[],
  ): Promise<Person & { known: KeyOfChannel[] }> {
    const profiles = await this.contacts.profiles(tx, contactIds);
    const { organizationId } = tx;
    const devices = await this.tokens.of(tx, contactIds);
    const known = [
      ...profiles.flatMap((profile) =>
        CHANNELS.flatMap((channel) =>
          channel === 'in_app' ? [] : this.keysOf(organizationId, channel, addressOf(profile, channel, null)),
        ),
      ),
      ...devices.flatMap((token) => this.keysOf(organizationId, 'push', token)),
    ];
    const before = await this.sends.addressKeys(tx, contactIds);
    return {
      contactIds,
      externalIds: profiles.flatMap(({ external_id: id }) => (id === null ? [] : identifierForms(id))),
      addressKeys: [...new Set([...before, ...known.flatMap(({ own }) => own)])],
      known,
    };
  }

  private keysOf(organizationId: string, channel: Channel, text: string | null): KeyOfChannel[] {
    const address = text === null ? undefined : checkAddress(channel, text);
    if (!address) return [];
    const { current, own } = this.keys.of(organizationId, address);
    return [{ channel, current, own }];
  }
}

function subjectsOf(contactIds: readonly string[]): string[] {
  return contactIds.map((id) => `contact:${id}`);
}
