import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database, duplicateValue, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactIdentities } from '../contacts/contact-identities.js';
import { ContactLookup } from '../contacts/contact-lookup.js';
import { ContactsService, type MergedAway } from '../contacts/contacts.service.js';
import type { CreateIdentityDto, IdentityDto } from './identity.dto.js';
import { IdentitiesRepository, type HeldIdentity } from './identities.repository.js';
import {
  identityForms,
  matchedIdentity,
  mayBeNew,
  shownIdentity,
} from '../../vocabulary/identities/identity-value.js';

/** A contact whose identities are being changed. */
type LockedContact = Awaited<ReturnType<ContactsService['lockForChange']>>;

/** The fields of a contact whose value is an identity. */
const FIELD_TYPES = ['external_id', 'email', 'phone'] as const;

/** What an addition came to. */
interface AddedIdentity {
  readonly identity: IdentityDto;
  readonly created: boolean;
}

/** The identities of contacts (core.md §3). Each has one owner in its organization, whichever way it comes. */
@Injectable()
export class IdentitiesService {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly contacts: ContactsService,
    private readonly lookup: ContactLookup,
    private readonly owners: ContactIdentities,
    private readonly identities: IdentitiesRepository,
    private readonly audit: Audit,
  ) {}

  /** @throws Problem `not_found` */
  list(
    context: RequestContext,
    contactId: string,
    query: ListQuery,
  ): Promise<Page<IdentityDto> | MergedAway> {
    return this.database.inOrganization(context, async (tx) => {
      const contact = await this.lookup.read(tx, contactId);
      if ('survivorId' in contact) return contact;
      return this.identities.page(tx, contactId, query);
    });
  }

  /**
   * Makes an identity the contact's own; what it has already is answered as it is.
   * @throws Problem `not_found`, `contact_merged`, `resource_deleted`, `validation_failed`, `duplicate_value`,
   * `limit_reached`
   */
  add(context: RequestContext, contactId: string, sent: CreateIdentityDto): Promise<AddedIdentity> {
    return this.database.inOrganization(context, async (tx) => {
      const contact = await this.contacts.lockForChange(tx, context, contactId);
      const body = { ...sent, value: await this.owners.keptForm(tx, sent.type, sent.value) };
      const normal = demandNormal(body, contact.country);
      const own = await this.identities.byValue(tx, contactId, body.type, [normal]);
      if (own) return this.confirmed(tx, context, contactId, own, body);
      if (!mayBeNew(body.type, body.value, contact.country)) throw noValue(body.type, 'invalid_format');
      if (body.type === 'external_id' && contact.externalId === null) {
        await this.contacts.change(tx, context, contactId, { external_id: body.value });
      } else await this.claim(tx, context, contact, body, normal);
      const added = await this.identities.byValue(tx, contactId, body.type, [normal]);
      if (!added) throw new Error('An identity was added and cannot be found');
      const { identity } = await this.confirmed(tx, context, contactId, added, body);
      return { identity, created: true };
    });
  }

  /** @throws Problem `not_found`, `contact_merged`, `resource_deleted`, `last_identity` */
  remove(context: RequestContext, contactId: string, id: string): Promise<void> {
    return this.removeFound(context, contactId, (tx) => this.identities.byId(tx, contactId, id));
  }

  /** By what it is found by. @throws Problem as `remove` */
  removeValue(context: RequestContext, contactId: string, type: string, value: string): Promise<void> {
    return this.removeFound(context, contactId, (tx, { country }) =>
      this.identities.byValue(tx, contactId, type, [...identityForms(type, value, country), value]),
    );
  }

  private async claim(
    tx: Transaction,
    context: RequestContext,
    { id: contactId }: LockedContact,
    { type, value }: CreateIdentityDto,
    normal: string,
  ): Promise<void> {
    const wanted = { type, value: shownIdentity(type, value), normal };
    const result = await this.owners.claim(tx, context, contactId, wanted, this.clock.now());
    if ('taken' in result) {
      throw duplicateValue({ field: 'value', pointer: '/value', tellConflicting: true }, result.taken);
    }
    await this.record(tx, context, result.id);
  }

  private async confirmed(
    tx: Transaction,
    context: RequestContext,
    contactId: string,
    own: HeldIdentity,
    { verified }: CreateIdentityDto,
  ): Promise<AddedIdentity> {
    if (verified !== undefined && verified !== own.verified) {
      await this.identities.verify(tx, own.id, verified, this.clock.now());
      await this.record(tx, context, own.id);
    }
    const identity = await this.identities.get(tx, contactId, own.id);
    if (!identity) throw new Error('An identity of a locked contact is gone');
    return { identity, created: false };
  }

  private async removeFound(
    context: RequestContext,
    contactId: string,
    find: (tx: Transaction, contact: LockedContact) => Promise<HeldIdentity | undefined>,
  ): Promise<void> {
    await this.database.inOrganization(context, async (tx) => {
      const contact = await this.contacts.lockForChange(tx, context, contactId);
      const own = await find(tx, contact);
      if (!own) throw new Problem('not_found');
      const field = FIELD_TYPES.find((type) => type === own.type);
      if (field && normalOf(contact, field) === own.normal) {
        // The field goes with its identity: a contact never shows an identifier that it is not found by.
        await this.contacts.clearIdentifier(tx, context, contactId, field);
        return;
      }
      await this.identities.remove(tx, own.id);
      await this.owners.demandOne(tx, contactId);
      await this.owners.tell(tx, context, 'removed', contactId, own.id, own.type);
      await this.record(tx, context, own.id);
    });
  }

  private async record(tx: Transaction, context: RequestContext, id: string): Promise<void> {
    await this.audit.record(tx, context, {
      action: 'core.contacts.update',
      resource: { type: 'identities', id },
      changedFields: ['identities'],
    });
  }
}

function demandNormal({ type, value }: CreateIdentityDto, country: string | null): string {
  const normal = matchedIdentity(type, value, country);
  if (normal !== undefined && (type !== 'external_id' || value.length <= 200)) return normal;
  const code = normal === undefined ? 'invalid_format' : 'too_long';
  throw noValue(type, code);
}

function noValue(type: string, code: 'invalid_format' | 'too_long'): Problem {
  return Problem.validation([
    { pointer: '/value', code, detail: `The value is no ${type.replaceAll('_', ' ')}.` },
  ]);
}

function normalOf(contact: LockedContact, field: (typeof FIELD_TYPES)[number]): string | null {
  return { external_id: contact.externalId, email: contact.emailNormal, phone: contact.phone }[field];
}
