import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import {
  Clock,
  Database,
  duplicateValue,
  RemoteReferences,
  ResourceStores,
  sameJson,
  type ResourceChange,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import {
  NOTHING_DECLARED,
  type DeclaredAttributes,
} from '../../vocabulary/attributes/declared-attributes.js';
import { DeclaredAttributesReader } from '../../following/declared-attributes.reader.js';
import { SegmentFollower, type ContactChange } from '../../following/segment-follower.js';
import { ContactIdentities, nationalIdOf } from './contact-identities.js';
import { changedContact, newContact, withoutIdentifier } from './contact-changes.js';
import type { Identifiers } from './contact-fields.js';
import type { ContactDto, CreateContactDto, UpdateContactDto, SeenContact } from './contact.dto.js';
import { Contact } from './contact.entity.js';
import { BOOKKEEPING, changedFields, eventOfChange } from './contact.events.js';
import { ContactHooks } from './contact-hooks.js';
import { ContactLookup } from './contact-lookup.js';
import { pageOfContacts } from './contacts-page.js';
import { ContactCounters } from './contact-counters.js';
import { NationalIdVault } from '../national-ids/national-id.vault.js';

const LAST_SEEN = 'SELECT last_seen_at FROM contact_activity WHERE organization_id = $1 AND contact_id = $2';
const BEGIN_ACTIVITY = `
  INSERT INTO contact_activity (organization_id, contact_id, last_seen_at) VALUES ($1, $2, $3)`;
const LOCK_ACTIVITY = `${LAST_SEEN} FOR UPDATE`;
const SET_TIMES = 'UPDATE contacts SET field_times = $3 WHERE organization_id = $1 AND id = $2';
/** Of a deletion or restoration, which ends the tokens that the contact has as a member. */
const RAISE_VERSION = `
  UPDATE contacts SET version = version + 1, members_from = $3 WHERE organization_id = $1 AND id = $2
  RETURNING version`;

/** A read of a contact that was merged: the survivor has it now. */
export interface MergedAway {
  readonly survivorId: string;
}

/**
 * The administration of contacts (core.md §2). Events change the same rows: values follow the same rules, the latest
 * word on each field wins, and an identity has one owner whichever way it comes.
 */
@Injectable()
export class ContactsService {
  private readonly contacts: ResourceStore<Contact>;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly lookup: ContactLookup,
    private readonly identities: ContactIdentities,
    private readonly counters: ContactCounters,
    private readonly vault: NationalIdVault,
    private readonly segments: SegmentFollower,
    private readonly audit: Audit,
    private readonly declared: DeclaredAttributesReader,
    private readonly hooks: ContactHooks,
    stores: ResourceStores,
    remoteReferences: RemoteReferences,
  ) {
    this.contacts = stores.of<Contact>({
      entity: Contact,
      module: 'core',
      resource: 'contacts',
      constraints: {
        unique: {
          contacts_national_id: {
            field: 'national_id',
            pointer: '/national_id',
            value: `national_id_type || ' ' || national_id_index`,
            tellConflicting: true,
          },
        },
      },
      bookkeeping: BOOKKEEPING,
      fieldNames: { nationalIdIndex: 'national_id' },
      event: eventOfChange,
      afterChange: (tx, context, change) => this.afterChange(tx, context, change),
      referencedBy: [
        { table: 'events', column: 'contact_id', resource: 'events' },
        { table: 'consent_events', column: 'contact_id', resource: 'consents' },
        { table: 'contacts', column: 'merged_into', resource: 'contacts' },
      ],
      remoteReferences,
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<ContactDto>> {
    return this.database.inOrganization(context, (tx) => pageOfContacts(tx, query));
  }

  /**
   * @throws Problem `validation_failed`, `placeholder_identifier`, `invalid_national_id`, `duplicate_value`; `subject_erased`
   * where somebody who was erased is named without a reason to take them up again
   */
  create(
    context: RequestContext,
    { readmit_reason: reason, ...body }: CreateContactDto,
  ): Promise<SeenContact> {
    const now = this.clock.now().toISOString();
    return this.seen(context, (tx) =>
      this.declaring(tx, body, async (declared) => {
        const named = await this.inKeptForm(tx, body);
        const values = newContact(this.vault, context.organizationId, named, { now, declared });
        const readmitted = reason !== undefined && (await this.identities.readmit(tx, values));
        const contact = await this.contacts.create(context, values, { tx });
        if (readmitted) {
          const resource = { type: 'contacts', id: contact.id };
          await this.audit.record(tx, context, { action: 'core.contacts.create', resource, reason });
        }
        return contact;
      }),
    );
  }

  /** The contact, or where it was merged into. @throws Problem `not_found` */
  get(context: RequestContext, id: string): Promise<SeenContact | MergedAway> {
    return this.database.inOrganization(context, async (tx) => {
      const contact = await this.contacts.get(context, id, 'any', tx);
      if (contact.erasedAt) throw new Problem('not_found');
      if (contact.mergedInto) return { survivorId: await this.lookup.survivorOf(tx, contact.mergedInto) };
      return withActivity(tx, contact);
    });
  }

  /** @throws Problem as `create`, and `immutable`, `last_identity`, `contact_merged`, `resource_deleted` */
  update(context: RequestContext, id: string, body: UpdateContactDto): Promise<SeenContact> {
    return this.seen(context, async (tx) => {
      await this.lockUnmerged(tx, context, id);
      return this.declaring(tx, body, (declared) =>
        this.contacts.update(context, id, (contact) => this.patch(tx, contact, body, declared), { tx }),
      );
    });
  }

  /** @throws Problem `contact_merged` */
  async softDelete(context: RequestContext, id: string): Promise<void> {
    await this.database.inOrganization(context, async (tx) => {
      await this.lockAgainstEvents(tx, context, id);
      await this.contacts.softDelete(context, id, { tx });
    });
  }

  /** @throws Problem `not_deleted`, `restore_conflict`, `contact_merged` */
  restore(context: RequestContext, id: string): Promise<SeenContact> {
    return this.seen(context, async (tx) => {
      await this.lockAgainstEvents(tx, context, id);
      return this.contacts.restore(context, id, { tx });
    });
  }

  /**
   * Removes a contact that nothing in any module points to.
   * @throws Problem `not_soft_deleted`, `resource_referenced`, `dependency_unavailable`, `contact_merged`
   */
  async purge(context: RequestContext, id: string): Promise<void> {
    await this.database.inOrganization(context, async (tx) => {
      await this.lockAgainstEvents(tx, context, id);
      await this.contacts.purge(context, id, { tx });
      await this.hooks.ofPurged(tx, id);
    });
  }

  /** The row, for changes that go through it to others of the contact. @throws Problem as a PATCH */
  async lockForChange(tx: Transaction, context: RequestContext, id: string): Promise<Readonly<Contact>> {
    const contact = await this.lockUnmerged(tx, context, id);
    if (contact.deletedAt) throw new Problem('resource_deleted');
    return contact;
  }

  /** As `update`, within a change that has locked the contact. */
  change(tx: Transaction, context: RequestContext, id: string, body: UpdateContactDto): Promise<Contact> {
    return this.declaring(tx, body, (declared) =>
      this.contacts.update(context, id, (contact) => this.patch(tx, contact, body, declared), {
        tx,
        ifMatch: '*',
      }),
    );
  }

  /** Takes an identifier's value out of its field, and with it the identity. @throws Problem `last_identity` */
  async clearIdentifier(
    tx: Transaction,
    context: RequestContext,
    id: string,
    field: keyof Identifiers,
  ): Promise<void> {
    const now = this.clock.now().toISOString();
    const clear = async (contact: Contact) => {
      const { patch, times } = withoutIdentifier(contact, field, now);
      await tx.query(SET_TIMES, [tx.organizationId, id, JSON.stringify(times)]);
      return patch;
    };
    await this.contacts.update(context, id, clear, { tx, ifMatch: '*' });
  }

  /** Locks first what an event locks first: none is under way that still takes the contact for what it was. */
  private async lockAgainstEvents(tx: Transaction, context: RequestContext, id: string): Promise<void> {
    await tx.query(LOCK_ACTIVITY, [tx.organizationId, id]);
    await this.lockUnmerged(tx, context, id);
  }

  /** @throws Problem `not_found` for an erased one too, `contact_merged` */
  private async lockUnmerged(tx: Transaction, context: RequestContext, id: string): Promise<Contact> {
    const contact = await this.contacts.lock(tx, context, id);
    if (contact.erasedAt) throw new Problem('not_found');
    if (!contact.mergedInto) return contact;
    const survivorId = await this.lookup.survivorOf(tx, contact.mergedInto);
    throw new Problem('contact_merged', { members: { survivor_id: survivorId } });
  }

  /** What gives no attributes needs no definitions. */
  private declaring<T>(
    tx: Transaction,
    { attributes }: UpdateContactDto,
    work: (declared: DeclaredAttributes) => Promise<T>,
  ): Promise<T> {
    return attributes ? this.declared.within(tx, work) : work(NOTHING_DECLARED);
  }

  private async patch(
    tx: Transaction,
    contact: Contact,
    body: UpdateContactDto,
    declared: DeclaredAttributes,
  ) {
    const now = this.clock.now().toISOString();
    const named = await this.inKeptForm(tx, body);
    const { patch, times } = changedContact(this.vault, contact, named, { now, declared });
    // A field that was only confirmed keeps its value, and no earlier word on it counts any more.
    if (!sameJson(times, contact.fieldTimes)) {
      await tx.query(SET_TIMES, [tx.organizationId, contact.id, JSON.stringify(times)]);
    }
    return patch;
  }

  private async inKeptForm<B extends UpdateContactDto>(tx: Transaction, body: B): Promise<B> {
    const { external_id: externalId } = body;
    if (externalId == null) return body;
    return { ...body, external_id: await this.identities.keptForm(tx, 'external_id', externalId) };
  }

  private async afterChange(
    tx: Transaction,
    context: RequestContext,
    change: ResourceChange<Contact>,
  ): Promise<void> {
    const { verb, row, before } = change;
    const now = this.clock.now();
    if (verb === 'created') await tx.query(BEGIN_ACTIVITY, [row.organizationId, row.id, row.createdAt]);
    if (verb === 'created' || verb === 'updated') {
      const taken = await this.identities.follow(tx, context, before, row, now);
      if (taken) throw duplicateValue({ ...taken, tellConflicting: true }, taken.conflictingId);
      if (row.nationalIdIndex !== (before?.nationalIdIndex ?? null))
        await this.identities.demandNotErased(tx, nationalIdOf(row));
    } else if (verb === 'restored') {
      const owner = await this.identities.takeBack(tx, row.id);
      if (owner) throw new Problem('restore_conflict', { members: { conflicting_id: owner } });
    } else if (verb === 'purged') await this.identities.remove(tx, row.id);
    if (verb === 'deleted' || verb === 'restored') {
      const [raised] = await tx.query<{ version: number }>(RAISE_VERSION, [
        ...[row.organizationId, row.id, now],
      ]);
      if (raised) row.version = raised.version;
    }
    await this.counters.count(tx, verb, now);
    await this.segments.contactsChanged(tx, [followed(change, context.correlationId)]);
  }

  private seen(context: RequestContext, work: (tx: Transaction) => Promise<Contact>): Promise<SeenContact> {
    return this.database.inOrganization(context, async (tx) => withActivity(tx, await work(tx)));
  }
}

/** What segments are told of a change: of an update what it changed, of anything else that all may be otherwise. */
function followed(change: ResourceChange<Contact>, correlationId: string): ContactChange {
  const contactId = change.row.id;
  if (change.verb === 'updated')
    return { contactId, cause: 'attribute', fields: changedFields(change), correlationId };
  const gone = change.verb === 'purged';
  return { contactId, cause: change.verb === 'restored' ? 'restore' : 'attribute', gone, correlationId };
}

async function withActivity(tx: Transaction, contact: Contact): Promise<SeenContact> {
  const [row] = await tx.query<{ last_seen_at: Date }>(LAST_SEEN, [tx.organizationId, contact.id]);
  return Object.assign(contact, { lastSeenAt: row?.last_seen_at ?? contact.createdAt });
}
