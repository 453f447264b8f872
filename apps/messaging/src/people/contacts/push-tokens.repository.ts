import { Injectable } from '@nestjs/common';
import { contactKey, type ContactId } from '@customer-platform/contact-refs';
import type { Transaction } from '@customer-platform/database';
import { checkAddress } from '../../vocabulary/addresses/address.js';
import { AddressKeys } from '../../vocabulary/addresses/address-keys.provider.js';
import { SuppressionsRepository } from '../suppressions/suppressions.repository.js';

/** A device of a contact: one of core's identities. */
export interface Device {
  readonly id: string;
  readonly contactId: string;
  readonly token: string;
  readonly seenAt: Date;
}

/** What an event told of a device, and when. */
interface ReportedDevice extends Device {
  readonly reportedAt: Date;
}

/** A contact whose devices are not known, and how often they have been forgotten. */
interface UnknownDevices {
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
      WHERE own.organization_id = known.organization_id AND own.contact_id = known.id AND NOT own.dead
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
  UPDATE contacts AS c SET devices_known = c.devices_epoch, devices_learnt_at = $4
    FROM unnest($2::uuid[], $3::int[]) AS asked (id, epoch)
   WHERE c.organization_id = $1 AND c.id = asked.id AND c.devices_epoch = asked.epoch AND c.state = 'active'
  RETURNING c.id`;

/**
 * Nobody who was erased comes back by a word of before, and nobody gets what is a survivor's. One that another contact
 * has is left as it is.
 */
const SAVE = `
  INSERT INTO push_tokens AS own (organization_id, id, contact_id, token, canonical, seen_at, dead)
  SELECT $1, given.id, given.contact_id, given.token, given.canonical, given.seen_at, given.dead
    FROM jsonb_to_recordset($2::jsonb)
      AS given (id uuid, contact_id uuid, token text, canonical text, seen_at timestamptz, dead boolean)
    LEFT JOIN contacts AS c ON c.organization_id = $1 AND c.id = given.contact_id
   WHERE coalesce(c.state, 'active') NOT IN ('erased', 'merged')
   ORDER BY given.id
  ON CONFLICT (organization_id, id) DO UPDATE
     SET token = excluded.token, canonical = excluded.canonical, seen_at = greatest(own.seen_at, excluded.seen_at),
         dead = excluded.dead
   WHERE own.contact_id = excluded.contact_id`;

/** Devices that two contacts are said to have: who has them here, and who is said to. */
const CONTESTED = `
  SELECT DISTINCT own.contact_id AS owner, given.contact_id AS said FROM push_tokens AS own
    JOIN unnest($2::uuid[], $3::uuid[]) AS given (id, contact_id) ON given.id = own.id
   WHERE own.organization_id = $1 AND own.contact_id <> given.contact_id`;

/**
 * Of whom this was not told after core's answer: it may be older than the answer, or than a removal that made nothing
 * known. Core is asked for them anyway.
 */
const OUTDATED = `
  SELECT DISTINCT given.contact_id AS id FROM unnest($2::uuid[], $3::timestamptz[]) AS given (contact_id, told_at)
   WHERE NOT EXISTS (
     SELECT FROM contacts AS c
      WHERE c.organization_id = $1 AND c.id = given.contact_id AND c.devices_known = c.devices_epoch
        AND given.told_at > c.devices_learnt_at)`;

const REMOVE = 'DELETE FROM push_tokens WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])';

const FORGET = `
  UPDATE contacts SET devices_epoch = devices_epoch + 1 WHERE organization_id = $1 AND id = ANY($2::uuid[])`;

const DEAD = `
  UPDATE push_tokens SET dead = $3 WHERE organization_id = $1 AND md5(canonical) = md5($2) AND canonical = $2`;

/**
 * The table `push_tokens`: the devices of contacts as core has told of them. Complete only for a contact whose
 * `devices_known` is its `devices_epoch`: core has been asked once, and no event has come since that leaves open what
 * there is (a merge, its undoing, a restore, a removal, what is older than the answer, a device of two contacts).
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
  async learn(
    tx: Transaction,
    asked: readonly UnknownDevices[],
    devices: readonly Device[],
    now: Date,
  ): Promise<void> {
    const ids = asked.map(({ id }) => id);
    await tx.query(LOCK, [tx.organizationId, ids]);
    const rows = await tx.query<{ id: string }>(LEARNT, [
      tx.organizationId,
      ids,
      asked.map(({ epoch }) => epoch),
      now,
    ]);
    const learnt = new Set(rows.map(({ id }) => id));
    await this.save(
      tx,
      devices.filter(({ contactId }) => learnt.has(contactId)),
    );
  }

  /** Takes over what events tell of. Where one leaves open what there is, core has to be asked anew. */
  async follow(tx: Transaction, told: readonly ReportedDevice[], open: readonly string[]): Promise<void> {
    const contactIds = [...new Set([...told.map(({ contactId }) => contactId), ...open])];
    await tx.query(LOCK, [tx.organizationId, contactIds]);
    const outdated = await tx.query<{ id: string }>(OUTDATED, [
      tx.organizationId,
      told.map(({ contactId }) => contactId),
      told.map(({ reportedAt }) => reportedAt),
    ]);
    const contested = await this.contested(tx, told);
    const forgotten = new Set([...open, ...outdated.map(({ id }) => id), ...contested]);
    await this.forget(tx, [...forgotten]);
    await this.save(
      tx,
      told.filter(({ contactId }) => !forgotten.has(contactId)),
    );
  }

  private async save(tx: Transaction, given: readonly Device[]): Promise<void> {
    const devices = [...new Map(given.map((device) => [device.id, device])).values()];
    if (devices.length === 0) return;
    const dead = await this.dead(tx, devices);
    const rows = devices.map(({ id, contactId, token, seenAt }) => ({
      id,
      contact_id: contactId,
      token,
      canonical: canonicalOf(token),
      seen_at: seenAt,
      dead: dead.has(id),
    }));
    const contested = await this.contested(tx, devices);
    await tx.query(SAVE, [tx.organizationId, JSON.stringify(rows)]);
    await this.forget(tx, contested);
  }

  /** Contacts of whom one has here what the other is said to have: neither is believed. */
  private async contested(tx: Transaction, devices: readonly Device[]): Promise<string[]> {
    const pairs = await tx.query<{ owner: string; said: string }>(CONTESTED, [
      tx.organizationId,
      devices.map(({ id }) => id),
      devices.map(({ contactId }) => contactId),
    ]);
    return [...new Set(pairs.flatMap(({ owner, said }) => [owner, said]))];
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

  /** Its provider says that there is no such device any more: another of the person is reached. */
  async setDead(tx: Transaction, token: string): Promise<void> {
    await tx.query(DEAD, [tx.organizationId, canonicalOf(token), true]);
  }

  /** Somebody says that it lives. */
  async setAlive(tx: Transaction, token: string): Promise<void> {
    await tx.query(DEAD, [tx.organizationId, canonicalOf(token), false]);
  }

  /** All tokens of these contacts. */
  async of(tx: Transaction, contactIds: readonly string[]): Promise<string[]> {
    const rows = await tx.query<{ token: string }>(
      'SELECT token FROM push_tokens WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])',
      [tx.organizationId, contactIds],
    );
    return rows.map(({ token }) => token);
  }

  /** The ids of those that a provider has said to be dead, whenever they were told of. */
  private async dead(tx: Transaction, devices: readonly Device[]): Promise<Set<string>> {
    const keys = new Map(devices.map(({ id, token }) => [id, this.keysOf(tx, token)]));
    const dead = await this.suppressions.withReason(tx, 'push', 'invalid_token', [...keys.values()].flat());
    return new Set(devices.flatMap(({ id }) => (keys.get(id)?.some((key) => dead.has(key)) ? id : [])));
  }

  private keysOf(tx: Transaction, token: string): readonly string[] {
    const address = checkAddress('push', token);
    return address ? this.keys.of(tx.organizationId, address).own : [];
  }
}

/** What a device is matched by, however its token is written. */
function canonicalOf(token: string): string {
  return checkAddress('push', token)?.canonical ?? token;
}
