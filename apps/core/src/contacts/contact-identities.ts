import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { claimIdentity, takeBackIdentities } from '../identities/identity-owners.js';
import type { Contact } from './contact.entity.js';

/** A field whose value is an identity of another contact. */
export interface TakenField {
  readonly field: string;
  readonly pointer: string;
  readonly conflictingId: string;
}

interface FieldIdentity {
  readonly type: 'external_id' | 'email' | 'phone';
  readonly value: string;
  readonly normal: string;
}

const RELEASE = `
  DELETE FROM identities
   WHERE organization_id = $1 AND contact_id = $2 AND type = $3 AND normal_value = $4 RETURNING id`;
const REMOVE_ALL = 'DELETE FROM identities WHERE organization_id = $1 AND contact_id = $2';
const ANY_LEFT = 'SELECT 1 FROM identities WHERE organization_id = $1 AND contact_id = $2 LIMIT 1';

/** Keeps the identities of a contact in step with its fields. */
@Injectable()
export class ContactIdentities {
  constructor(private readonly outbox: Outbox) {}

  /**
   * After a change: claims what fields name anew, and releases the values they had; answers the field that names an
   * identity of another active contact, if one does.
   * @throws Problem `last_identity` when the contact would be found by nothing
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
    for (const wanted of has) {
      if (had.some((own) => isSame(own, wanted))) continue;
      const result = await claimIdentity(tx, after.id, wanted, now);
      if ('taken' in result) {
        return { field: wanted.type, pointer: `/${wanted.type}`, conflictingId: result.taken };
      }
      if (result.owned === 'new') await this.tell(tx, context, 'added', after.id, result.id, wanted.type);
    }
    const released = had.filter((own) => !has.some((kept) => isSame(own, kept)));
    for (const { type, normal } of released) {
      const rows = await tx.query<{ id: string }>(RELEASE, [tx.organizationId, after.id, type, normal]);
      for (const { id } of rows) await this.tell(tx, context, 'removed', after.id, id, type);
    }
    if (released.length > 0) await this.demandOne(tx, after.id);
    return undefined;
  }

  /** @throws Problem `last_identity` */
  async demandOne(tx: Transaction, contactId: string): Promise<void> {
    const left = await tx.query(ANY_LEFT, [tx.organizationId, contactId]);
    if (left.length === 0) throw new Problem('last_identity');
  }

  /** On a restore: answers who has one of the yielded identities now, if somebody does. */
  takeBack(tx: Transaction, contactId: string): Promise<string | undefined> {
    return takeBackIdentities(tx, contactId);
  }

  /** With the contact itself. */
  async remove(tx: Transaction, contactId: string): Promise<void> {
    await tx.query(REMOVE_ALL, [tx.organizationId, contactId]);
  }

  /** `core.identity.added` or `.removed`, of a change by the API. */
  async tell(
    tx: Transaction,
    context: RequestContext,
    verb: 'added' | 'removed',
    contactId: string,
    identityId: string,
    type: string,
  ): Promise<void> {
    await this.outbox.append(tx, {
      type: `core.identity.${verb}.v1`,
      organizationId: context.organizationId,
      key: contactId,
      subject: `identities/${identityId}`,
      correlationId: context.correlationId,
      data: { contact_id: contactId, identity_id: identityId, type },
    });
  }
}

function identitiesOf({ externalId, email, emailNormal, phone }: Contact): FieldIdentity[] {
  return [
    ...(externalId === null ? [] : [{ type: 'external_id' as const, value: externalId, normal: externalId }]),
    ...(email === null || emailNormal === null
      ? []
      : [{ type: 'email' as const, value: email, normal: emailNormal }]),
    ...(phone === null ? [] : [{ type: 'phone' as const, value: phone, normal: phone }]),
  ];
}

function isSame(one: FieldIdentity, other: FieldIdentity): boolean {
  return one.type === other.type && one.normal === other.normal;
}
