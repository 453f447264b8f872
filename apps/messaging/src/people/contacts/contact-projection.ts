import { Injectable } from '@nestjs/common';
import {
  refsOfMerge,
  type ContactChanged,
  type ContactEnded,
  type ContactsMerged,
} from '@customer-platform/contact-refs';
import { Database, type Transaction, type WorkerTransaction } from '@customer-platform/database';
import { Inbox } from '@customer-platform/event-bus';
import { sharedFieldsOf, type DomainEvent } from '@customer-platform/events';
import { locksOf } from '../../vocabulary/addresses/address-keys.js';
import { ConsentsRepository } from './consents.repository.js';
import { UNKNOWN_PROFILE, type Contact } from '../../vocabulary/contacts/contact.js';
import { EventWaits } from '../event-waits/event-waits.repository.js';
import { ContactsRepository } from './contacts.repository.js';
import { PushTokensRepository } from './push-tokens.repository.js';

/** What a person said about a purpose. */
export type Consented = 'core.consent.recorded.v1' | 'core.consent.expired.v1';

/**
 * What somebody has declined who went up in another, everybody on the way to the end of the chain has declined; an
 * unmerge takes no objection back. Merges of one chain are told in any order, by several processes at once: each looks
 * from whoever is below it to whoever is above, after it is written, so that the last one sees them all. One that is
 * told again, with its time in `$4`, undoes nothing that was wanted since, nor does it count once the two have parted:
 * it brings what was declined after it, or what somebody has an own choice against; what was taken back stays so.
 */
const CARRY_OBJECTIONS = `
  WITH RECURSIVE below AS (
    SELECT $2::uuid AS id
     UNION
    SELECT known.id FROM below JOIN contacts AS known ON known.organization_id = $1 AND known.merged_into = below.id),
  above AS (
    SELECT $3::uuid AS id
     UNION
    SELECT known.merged_into FROM above JOIN contacts AS known ON known.organization_id = $1 AND known.id = above.id
     WHERE known.merged_into IS NOT NULL),
  declined AS (
    SELECT channel, topic, max(updated_at) AS updated_at FROM preferences
     WHERE organization_id = $1 AND subject = ANY(ARRAY(SELECT 'contact:' || below.id FROM below)) AND NOT subscribed
     GROUP BY channel, topic)
  INSERT INTO preferences AS p (organization_id, subject, channel, topic, subscribed, updated_at)
  SELECT $1, 'contact:' || above.id, channel, topic, false, updated_at FROM above CROSS JOIN declined
   WHERE NOT EXISTS (SELECT FROM contacts AS known
                      WHERE known.organization_id = $1 AND known.id = above.id AND known.state = 'erased')
     AND ($4::timestamptz IS NULL OR NOT EXISTS (
           SELECT FROM contacts AS known
            WHERE known.organization_id = $1 AND known.id = $2 AND known.version > $5 AND known.state <> 'merged'))
     AND ($4::timestamptz IS NULL OR declined.updated_at > $4 OR EXISTS (
           SELECT FROM preferences AS own
            WHERE own.organization_id = $1 AND own.subject = 'contact:' || above.id
              AND own.channel = declined.channel AND own.topic = declined.topic))
   ORDER BY above.id, channel, topic
  ON CONFLICT (organization_id, subject, channel, topic) DO UPDATE SET subscribed = false
   WHERE p.subscribed AND ($4::timestamptz IS NULL OR p.updated_at <= $4)`;

/** These contacts and everybody above them. */
const ABOVE = `
  WITH RECURSIVE above AS (
    SELECT unnest($2::uuid[]) AS id
     UNION
    SELECT known.merged_into FROM above JOIN contacts AS known ON known.organization_id = $1 AND known.id = above.id
     WHERE known.merged_into IS NOT NULL)
  SELECT id FROM above`;

const SHARE_LOCKS = 'SELECT pg_advisory_xact_lock_shared(lock) FROM unnest($1::bigint[]) AS lock';

const CONSUMER = 'objections of merges';

/** Follows core's contacts and consents. Repeating an event changes nothing: what is older never overwrites. */
@Injectable()
export class ContactProjection {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly consents: ConsentsRepository,
    private readonly waits: EventWaits,
    private readonly tokens: PushTokensRepository,
    private readonly inbox: Inbox,
  ) {}

  async changed(events: DomainEvent<ContactChanged>[]): Promise<void> {
    await this.save(events.map(toContact));
    // A contact that comes back may have lost devices to others.
    const restored = events.filter(({ type }) => type === 'core.contact.restored.v1');
    await this.forgetDevices(restored, ({ data }) => [data.contact_id]);
  }

  async ended(events: DomainEvent<ContactEnded>[]): Promise<void> {
    const gone = events.map(({ organizationid, data }): Contact => ({
      organizationId: organizationid,
      id: data.contact_id,
      version: data.version,
      state: 'erased',
      mergedInto: null,
      profile: { ...UNKNOWN_PROFILE, id: data.contact_id },
    }));
    await this.save(gone);
    await this.database.forEachOrganization(
      events,
      ({ organizationid }) => organizationid,
      (tx, own) =>
        this.tokens.remove(
          tx,
          own.map(({ data }) => data.contact_id),
        ),
    );
  }

  async merged(events: DomainEvent<ContactsMerged>[]): Promise<void> {
    await this.write(async (tx) => {
      // The survivor is told of by events of its own: of one that is not known here core is asked.
      const merged = events.map((event) => refsOfMerge(event).merged);
      await this.contacts.write(tx, merged);
      await this.waits.wake(tx, merged);
    });
    await this.carryObjections(events.filter(({ type }) => type === 'core.contact.merged.v1'));
    await this.forgetDevices(events, ({ data }) => [data.survivor_id, data.merged_id]);
  }

  async consented(events: DomainEvent<Consented>[]): Promise<void> {
    const states = events.map(({ organizationid, time, data }) => ({
      organizationId: organizationid,
      id: data.contact_id,
      purpose: data.purpose,
      channel: data.channel,
      status: data.status,
      occurredAt: new Date(time),
    }));
    await this.write((tx) => this.consents.save(tx, states));
  }

  private carryObjections(events: readonly DomainEvent<ContactsMerged>[]): Promise<void> {
    return this.database.forEachOrganization(
      events,
      ({ organizationid }) => organizationid,
      async (tx, own) => {
        const fresh = await this.inbox.claim(
          tx,
          CONSUMER,
          own.map(({ id }) => id),
        );
        await this.shareLocks(tx, own);
        for (const { id, time, data } of own) {
          const toldAgainAt = fresh.has(id) ? null : time;
          const { merged_id: mergedId, survivor_id: survivorId, merged_version: version } = data;
          await tx.query(CARRY_OBJECTIONS, [tx.organizationId, mergedId, survivorId, toldAgainAt, version]);
        }
      },
    );
  }

  /**
   * Waits for whoever says at this moment what these contacts receive, and has who comes later see what is carried: under
   * the locks of the gate, which several merges share.
   */
  private async shareLocks(tx: Transaction, events: readonly DomainEvent<ContactsMerged>[]): Promise<void> {
    const named = events.flatMap(({ data }) => [data.merged_id, data.survivor_id]);
    const locked = new Set<string>();
    const unlocked = async (): Promise<string[]> => {
      const rows = await tx.query<{ id: string }>(ABOVE, [tx.organizationId, named]);
      return rows.map(({ id }) => id).filter((id) => !locked.has(id));
    };
    // While it waited the chain may have become longer.
    for (let ids = await unlocked(); ids.length > 0; ids = await unlocked()) {
      await tx.query(SHARE_LOCKS, [locksOf(ids.map((id) => `contact:${id}`))]);
      for (const id of ids) locked.add(id);
    }
  }

  private forgetDevices<E extends DomainEvent>(
    events: readonly E[],
    whose: (event: E) => readonly string[],
  ): Promise<void> {
    return this.database.forEachOrganization(
      events,
      ({ organizationid }) => organizationid,
      (tx, own) => this.tokens.forget(tx, [...new Set(own.flatMap(whose))]),
    );
  }

  private save(contacts: readonly Contact[]): Promise<void> {
    return this.write(async (tx) => {
      await this.contacts.save(tx, contacts);
      await this.waits.wake(tx, contacts);
    });
  }

  private write(work: (tx: WorkerTransaction) => Promise<void>): Promise<void> {
    return this.database.acrossOrganizations(work);
  }
}

function toContact({ organizationid, data }: DomainEvent<ContactChanged>): Contact {
  const { id, state, attributes } = data.contact;
  return {
    organizationId: organizationid,
    id: data.contact_id,
    version: data.version,
    state,
    mergedInto: null,
    profile: { id, ...sharedFieldsOf(data.contact), attributes },
  };
}
