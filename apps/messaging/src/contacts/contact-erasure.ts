import { Injectable } from '@nestjs/common';
import { Clock, ReferenceHolds, type Transaction } from '@customer-platform/database';
import type { ErasedCounts } from '@customer-platform/erasure';
import { AddressKeys } from '../addresses/address-keys.provider.js';
import { checkAddress } from '../addresses/address.js';
import { CHANNELS } from '../addresses/channel.js';
import { SendsRepository } from '../sends/sends.repository.js';
import { addressOf, type ContactProfile } from './contact.js';
import { ContactsRepository } from './contacts.repository.js';

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

interface KeyOfChannel {
  readonly channel: string;
  /** What new rows are stored under. */
  readonly current: string;
  readonly own: readonly string[];
}

/**
 * The right of erasure in messaging (messaging.md §13): what is unfinished is called off, the person goes out of
 * everything that was, suppressions and opt-outs stay as keyed hashes and still block.
 */
@Injectable()
export class ContactErasure {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly sends: SendsRepository,
    private readonly keys: AddressKeys,
    private readonly holds: ReferenceHolds,
    private readonly clock: Clock,
  ) {}

  /** Erases the contact and all who were merged into it, in the caller's transaction. */
  async erase(tx: Transaction, contactId: string): Promise<ErasedCounts> {
    // Who is writing a send to the contact is waited for; who comes later is told that it is gone.
    await this.holds.hold(tx, 'core.contacts', contactId);
    const contactIds = await this.contacts.family(tx, contactId);
    const profiles = await this.contacts.profiles(tx, contactIds);
    await this.contacts.erase(tx, contactIds);
    const externalIds = profiles.flatMap(({ external_id: id }) => id ?? []);
    const { count, addressKeys } = await this.sends.erase(tx, { contactIds, externalIds }, this.clock.now());
    const known = profiles.flatMap((profile) => this.keysOf(tx.organizationId, profile));
    const subjects = contactIds.map((id) => `contact:${id}`);
    await tx.query(KEEP_OPT_OUTS, [
      tx.organizationId,
      subjects,
      known.map(({ channel }) => channel),
      known.map(({ current }) => current),
    ]);
    const preferences = await tx.query(DROP_PREFERENCES, [tx.organizationId, subjects]);
    const notifications = await tx.query(DROP_NOTIFICATIONS, [tx.organizationId, contactIds]);
    await tx.query(DROP_CONSENTS, [tx.organizationId, contactIds]);
    const suppressions = await tx.query(BLANK_SUPPRESSIONS, [
      tx.organizationId,
      [...addressKeys, ...known.flatMap(({ own }) => own)],
    ]);
    return {
      sends: count,
      notifications: notifications.length,
      preferences: preferences.length,
      suppressions: suppressions.length,
    };
  }

  private keysOf(organizationId: string, profile: ContactProfile): KeyOfChannel[] {
    return CHANNELS.flatMap((channel) => {
      const text = channel === 'in_app' ? null : addressOf(profile, channel, null);
      const address = text === null ? undefined : checkAddress(channel, text);
      if (!address) return [];
      const { current, own } = this.keys.of(organizationId, address);
      return [{ channel, current, own }];
    });
  }
}
