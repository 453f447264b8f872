import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import type { Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ErasedIdentifiers, type Identifier } from '../../blocklist/erased-identifiers.js';
import {
  claimIdentity,
  takeBackIdentities,
  takeBackWhatIsFree,
  type BlockedAmong,
  type ClaimResult,
  type WantedIdentity,
} from '../identities/identity-owners.js';
import {
  IDENTITIES_OF_CONTACT,
  identityLimit,
  PUSH_TOKEN,
} from '../../vocabulary/identities/identity-value.js';
import { keptForms, type KeptForm, type WrittenIdentifier } from '../identities/kept-forms.js';
import type { Contact } from './contact.entity.js';

/** A field whose value is an identity of another contact. */
interface TakenField {
  readonly field: string;
  readonly pointer: string;
  readonly conflictingId: string;
}

/** An identity that a field of a contact names. */
export interface FieldIdentity {
  readonly type: 'external_id' | 'email' | 'phone';
  readonly value: string;
  readonly normal: string;
}

const RELEASE = `
  DELETE FROM identities
   WHERE organization_id = $1 AND contact_id = $2 AND type = $3 AND normal_value = $4 RETURNING id`;
const COUNT = `
  SELECT count(*) FILTER (WHERE type = $3)::int AS "ofType", count(*)::int AS "ofAll" FROM identities
   WHERE organization_id = $1 AND contact_id = $2 AND yielded_at IS NULL`;
const REMOVE_ALL = 'DELETE FROM identities WHERE organization_id = $1 AND contact_id = $2';
const ANY_LEFT = 'SELECT 1 FROM identities WHERE organization_id = $1 AND contact_id = $2 LIMIT 1';

/** Keeps the identities of a contact in step with its fields. */
@Injectable()
export class ContactIdentities {
  constructor(
    private readonly outbox: Outbox,
    private readonly blocklist: ErasedIdentifiers,
  ) {}

  /**
   * After a change: claims what fields name anew, and releases the values they had; answers the field that names an
   * identity of another active contact, if one does.
   * @throws Problem `last_identity` when the contact would be found by nothing, `limit_reached`, `subject_erased`
   */
  async follow(
    tx: Transaction,
    context: RequestContext,
    before: Contact | undefined,
    after: Contact,
    now: Date,
  ): Promise<TakenField | undefined> {
    const had = before ? identitiesOf(before) : [];
    const has = identitiesOf(after);
    const released = had.filter((own) => !has.some((kept) => isSame(own, kept)));
    for (const { type, normal } of released) {
      const rows = await tx.query<{ id: string }>(RELEASE, [tx.organizationId, after.id, type, normal]);
      for (const { id } of rows) await this.tell(tx, context, 'removed', after.id, id, type);
    }
    for (const wanted of has) {
      if (had.some((own) => isSame(own, wanted))) continue;
      const result = await this.claim(tx, context, after.id, wanted, now);
      if ('taken' in result) {
        return { field: wanted.type, pointer: `/${wanted.type}`, conflictingId: result.taken };
      }
    }
    if (released.length > 0) await this.demandOne(tx, after.id);
    return undefined;
  }

  /**
   * Makes an identity the contact's own, whose row is locked.
   * @throws Problem `limit_reached` where it would be one too many of its type or of all, `subject_erased`
   */
  async claim(
    tx: Transaction,
    context: RequestContext,
    contactId: string,
    wanted: WantedIdentity,
    now: Date,
  ): Promise<ClaimResult> {
    const result = await claimIdentity(tx, contactId, wanted, now);
    if ('taken' in result || result.owned === 'already') return result;
    // Asked once the value is had: an erasure that let go of it meanwhile has blocked it.
    await this.demandNotErased(tx, [wanted]);
    await this.demandWithinLimits(tx, contactId, wanted.type);
    const { type, value } = wanted;
    const device = type === PUSH_TOKEN ? { value, seen_at: now.toISOString() } : undefined;
    await this.tell(tx, context, 'added', contactId, result.id, type, device);
    return result;
  }

  private async demandWithinLimits(tx: Transaction, contactId: string, type: string): Promise<void> {
    const [counts] = await tx.query<{ ofType: number; ofAll: number }>(COUNT, [
      tx.organizationId,
      contactId,
      type,
    ]);
    const limit = identityLimit(type);
    if (counts && counts.ofType > limit) throw limitReached(limit, 'identities of this type');
    if (counts && counts.ofAll > IDENTITIES_OF_CONTACT)
      throw limitReached(IDENTITIES_OF_CONTACT, 'identities');
  }

  /**
   * Claims what the fields of a contact name and nobody has; what another has stays with it, and in the field. What a
   * person had who was erased is nobody's.
   */
  async claimFree(tx: Transaction, context: AuditContext, contact: Contact, now: Date): Promise<void> {
    for (const wanted of identitiesOf(contact)) {
      const result = await claimIdentity(tx, contact.id, wanted, now);
      if ('taken' in result || result.owned === 'already') continue;
      // Asked once the value is had, as by `claim`.
      if (await this.blocklist.isAnyBlocked(tx, [wanted]))
        await tx.query(RELEASE, [tx.organizationId, contact.id, wanted.type, wanted.normal]);
      else await this.tell(tx, context, 'added', contact.id, result.id, wanted.type);
    }
  }

  /** An identifier of another system in the form in which it is kept: see {@link keptForms}. */
  async keptForm(tx: Transaction, type: string, value: string): Promise<string> {
    const written = { organizationId: tx.organizationId, type, value };
    return (await this.keptForms(tx, [written]))(written);
  }

  /** Likewise, of many at once. */
  keptForms(tx: Transaction, written: readonly WrittenIdentifier[]): Promise<KeptForm> {
    return keptForms(tx, this.blocklist, written);
  }

  /** @throws Problem `subject_erased` where one of these is of a person who was erased */
  async demandNotErased(tx: Transaction, identifiers: readonly Identifier[]): Promise<void> {
    if (await this.blocklist.isAnyBlocked(tx, identifiers)) throw new Problem('subject_erased');
  }

  /** Lets a person who was erased come back. @returns whether one of these was blocked */
  async readmit(tx: Transaction, contact: Partial<Contact>): Promise<boolean> {
    return (await this.blocklist.lift(tx, identifiersOf(contact))) > 0;
  }

  /** @throws Problem `last_identity` */
  async demandOne(tx: Transaction, contactId: string): Promise<void> {
    const left = await tx.query(ANY_LEFT, [tx.organizationId, contactId]);
    if (left.length === 0) throw new Problem('last_identity');
  }

  /** On a restore: answers who has one of the yielded identities now, if somebody does. */
  takeBack(tx: Transaction, contactId: string): Promise<string | undefined> {
    return takeBackIdentities(tx, contactId, this.blockedAmong);
  }

  /** As `takeBack`, but what another has now is left to it. */
  takeBackFree(tx: Transaction, contactId: string): Promise<void> {
    return takeBackWhatIsFree(tx, contactId, this.blockedAmong);
  }

  private readonly blockedAmong: BlockedAmong = async (tx, identities) => {
    const { organizationId } = tx;
    return [
      ...(await this.blocklist.blocked(
        tx,
        identities.map((each) => ({ ...each, organizationId })),
      )),
    ];
  };

  /** With the contact itself. */
  async remove(tx: Transaction, contactId: string): Promise<void> {
    await tx.query(REMOVE_ALL, [tx.organizationId, contactId]);
  }

  /** `core.identity.added` or `.removed`, of a change by the API. */
  async tell(
    tx: Transaction,
    context: AuditContext,
    verb: 'added' | 'removed',
    contactId: string,
    identityId: string,
    type: string,
    device?: { readonly value: string; readonly seen_at: string },
  ): Promise<void> {
    await this.outbox.append(tx, {
      type: `core.identity.${verb}.v1`,
      organizationId: context.organizationId,
      key: contactId,
      subject: `identities/${identityId}`,
      correlationId: context.correlationId,
      data: { contact_id: contactId, identity_id: identityId, type, ...(device && { push_token: device }) },
    });
  }
}

/** The national id of a contact as an identifier: by its index. */
export function nationalIdOf(contact: Partial<Contact>): Identifier[] {
  const { nationalIdType: type, nationalIdIndex: index } = contact;
  return type && index ? [{ type: `national_id.${type}`, normal: index }] : [];
}

function identifiersOf(contact: Partial<Contact>): Identifier[] {
  const { externalId = null, emailNormal = null, phone = null } = contact;
  const named = { external_id: externalId, email: emailNormal, phone };
  const own = Object.entries(named).flatMap(([type, normal]) => (normal === null ? [] : [{ type, normal }]));
  return [...own, ...nationalIdOf(contact)];
}

/** What the fields of a contact name. */
export function identitiesOf({ externalId, email, emailNormal, phone }: Contact): FieldIdentity[] {
  return [
    ...(externalId === null ? [] : [{ type: 'external_id' as const, value: externalId, normal: externalId }]),
    ...(email === null || emailNormal === null
      ? []
      : [{ type: 'email' as const, value: email, normal: emailNormal }]),
    ...(phone === null ? [] : [{ type: 'phone' as const, value: phone, normal: phone }]),
  ];
}

function limitReached(limit: number, what: string): Problem {
  return new Problem('limit_reached', {
    detail: `A contact has at most ${limit} ${what}.`,
    members: { limit },
  });
}

function isSame(one: FieldIdentity, other: FieldIdentity): boolean {
  return one.type === other.type && one.normal === other.normal;
}
