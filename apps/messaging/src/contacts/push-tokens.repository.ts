import { Injectable } from '@nestjs/common';
import { contactKey, type ContactId } from '@customer-platform/contact-refs';
import type { Transaction } from '@customer-platform/database';
import { checkAddress } from '../addresses/address.js';
import { AddressKeys } from '../addresses/address-keys.provider.js';
import { SuppressionsRepository } from '../suppressions/suppressions.repository.js';

/** A device of a contact: one of core's identities. */
export interface Device {
  readonly id: string;
  readonly contactId: string;
  readonly token: string;
  readonly seenAt: Date;
}

/** A contact whose devices are not known, and how often they have been forgotten. */
export interface UnknownDevices {
  readonly id: string;
  readonly epoch: number;
}

/** Of those of whom it is known; the row without a token says that there is none. */
const LATEST = `
  SELECT known.organization_id, known.id, latest.token
    FROM unnest($1::uuid[], $2::uuid[]) AS asked (organization_id, id)
   CROSS JOIN LATERAL (
     SELECT organization_id, id, devices_epoch, devices_known FROM contacts AS c
      WHERE c.organization_id = asked.organization_id AND c.id = asked.id OFFSET 0) AS known
    LEFT JOIN LATERAL (
     SELECT token FROM push_tokens AS own
      WHERE own.organization_id = known.organization_id AND own.contact_id = known.id
      ORDER BY seen_at DESC, id DESC LIMIT 1) AS latest ON true
   WHERE known.devices_known = known.devices_epoch`;

const UNKNOWN = `
  SELECT id, devices_epoch AS epoch FROM contacts
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND state = 'active'
     AND devices_known IS DISTINCT FROM devices_epoch`;

const LOCK = `
  SELECT 1 FROM contacts WHERE organization_id = $1 AND id = ANY($2::uuid[])
   ORDER BY organization_id, id FOR NO KEY UPDATE`;

/** What was asked before something happened that may have changed the answer is not believed. */
const LEARNT = `
  UPDATE contacts AS c SET devices_known = c.devices_epoch
    FROM unnest($2::uuid[], $3::int[]) AS asked (id, epoch)
   WHERE c.organization_id = $1 AND c.id = asked.id AND c.devices_epoch = asked.epoch AND c.state = 'active'
  RETURNING c.id`;

/** Nobody who was erased comes back by a word of before. */
const SAVE = `
  INSERT INTO push_tokens AS own (organization_id, id, contact_id, token, seen_at)
  SELECT $1, given.id, given.contact_id, given.token, given.seen_at
    FROM jsonb_to_recordset($2::jsonb) AS given (id uuid, contact_id uuid, token text, seen_at timestamptz)
    LEFT JOIN contacts AS c ON c.organization_id = $1 AND c.id = given.contact_id
   WHERE c.state IS DISTINCT FROM 'erased'
   ORDER BY given.id
  ON CONFLICT (organization_id, id) DO UPDATE
     SET contact_id = excluded.contact_id, token = excluded.token, seen_at = greatest(own.seen_at, excluded.seen_at)`;

const REMOVE = 'DELETE FROM push_tokens WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])';

const FORGET = `
  UPDATE contacts SET devices_epoch = devices_epoch + 1 WHERE organization_id = $1 AND id = ANY($2::uuid[])`;

const DEAD = 'DELETE FROM push_tokens WHERE organization_id = $1 AND md5(token) = md5($2) AND token = $2';

/**
 * The table `push_tokens`: the devices of contacts as core has told of them. Complete only for a contact whose
 * `devices_known` is its `devices_epoch`: core has been asked once, and no event has come since that leaves open what
 * there is (a merge, its undoing, a restore, a removal).
 */
@Injectable()
export class PushTokensRepository {
  constructor(
    private readonly suppressions: SuppressionsRepository,
    private readonly keys: AddressKeys,
  ) {}

  /** The latest device of each contact, by `contactKey`; null: it has none. Missing: it is not known. */
  async latest(tx: Transaction, contacts: readonly ContactId[]): Promise<Map<string, string | null>> {
    if (contacts.length === 0) return new Map();
    const rows = await tx.prepared<{ organization_id: string; id: string; token: string | null }>(LATEST, [
      contacts.map(({ organizationId }) => organizationId),
      contacts.map(({ id }) => id),
    ]);
    return new Map(
      rows.map(({ organization_id: organizationId, id, token }) => [
        contactKey({ organizationId, id }),
        token,
      ]),
    );
  }

  /** Of these contacts the active ones whose devices are not known. */
  unknown(tx: Transaction, contactIds: readonly string[]): Promise<UnknownDevices[]> {
    return tx.query<UnknownDevices & { [column: string]: unknown }>(UNKNOWN, [tx.organizationId, contactIds]);
  }

  /** Takes over what core answered; not of those of whom something was told meanwhile. */
  async learn(tx: Transaction, asked: readonly UnknownDevices[], devices: readonly Device[]): Promise<void> {
    const ids = asked.map(({ id }) => id);
    await tx.query(LOCK, [tx.organizationId, ids]);
    const rows = await tx.query<{ id: string }>(LEARNT, [
      tx.organizationId,
      ids,
      asked.map(({ epoch }) => epoch),
    ]);
    const learnt = new Set(rows.map(({ id }) => id));
    await this.save(
      tx,
      devices.filter(({ contactId }) => learnt.has(contactId)),
    );
  }

  /** Takes over what events tell of. A device that is known to be dead stays forgotten. */
  async save(tx: Transaction, devices: readonly Device[]): Promise<void> {
    const alive = await this.alive(tx, [...new Map(devices.map((device) => [device.id, device])).values()]);
    if (alive.length === 0) return;
    const contactIds = [...new Set(alive.map(({ contactId }) => contactId))];
    await tx.query(LOCK, [tx.organizationId, contactIds]);
    const rows = alive.map(({ id, contactId, token, seenAt }) => ({
      id,
      contact_id: contactId,
      token,
      seen_at: seenAt,
    }));
    await tx.query(SAVE, [tx.organizationId, JSON.stringify(rows)]);
  }

  /** What there is of these contacts' devices has to be asked anew. */
  async forget(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    if (contactIds.length === 0) return;
    await tx.query(LOCK, [tx.organizationId, contactIds]);
    await tx.query(FORGET, [tx.organizationId, contactIds]);
    await this.remove(tx, contactIds);
  }

  /** With the contacts themselves. */
  async remove(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    await tx.query(REMOVE, [tx.organizationId, contactIds]);
  }

  /** Its provider says that there is no such device any more. */
  async removeDead(tx: Transaction, token: string): Promise<void> {
    await tx.query(DEAD, [tx.organizationId, token]);
  }

  /** All tokens of these contacts. */
  async of(tx: Transaction, contactIds: readonly string[]): Promise<string[]> {
    const rows = await tx.query<{ token: string }>(
      'SELECT token FROM push_tokens WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])',
      [tx.organizationId, contactIds],
    );
    return rows.map(({ token }) => token);
  }

  private async alive(tx: Transaction, devices: readonly Device[]): Promise<Device[]> {
    const keysOf = ({ token }: Device): readonly string[] => {
      const address = checkAddress('push', token);
      return address ? this.keys.of(tx.organizationId, address).own : [];
    };
    const blocked = await this.suppressions.blocking(
      tx,
      devices.map((device) => ({ channel: 'push', keys: keysOf(device) })),
    );
    return devices.filter((device) => !keysOf(device).some((key) => blocked('push', key)));
  }
}
