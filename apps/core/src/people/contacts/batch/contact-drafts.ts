import { namesOf, recordOf } from '@customer-platform/events';
import { newId, sameJson, Whole, type ResourceChange } from '@customer-platform/database';
import { Problem, type FieldError, type ProblemCode } from '@customer-platform/problem-json';
import { identityLimit } from '../../../vocabulary/identities/identity-value.js';
import { changedContact, newContact } from '../contact-changes.js';
import type { CreateContactDto } from '../contact.dto.js';
import { FIELD_PROPERTIES, NATIONAL_ID_COLUMNS } from '../../../vocabulary/contacts/contact-field-table.js';
import type { Moment } from '../contact-fields.js';
import { identitiesOf, type FieldIdentity } from '../contact-identities.js';
import { Contact } from '../contact.entity.js';
import type { NationalIdVault } from '../../national-ids/national-id.vault.js';
import type { Identifier } from '../../../blocklist/erased-identifiers.js';
import { keyOf, type BatchOptions, type BatchOutcome, type BatchRow } from './batch-row.js';
import type { KnownContacts, OwnedIdentity } from './known-contacts.js';

/** A contact as it stands in a batch, ahead of what is written at its end. */
export interface Draft {
  contact: Contact;
  readonly created: boolean;
  /** Columns changed, or only when they were said. */
  changed: boolean;
}

/** What a row did, as others are told of it. */
export interface DraftChange {
  readonly change: ResourceChange<Contact>;
  readonly added: readonly OwnedIdentity[];
  readonly removed: readonly OwnedIdentity[];
}

/**
 * Applies rows to contacts, in memory and in their order: a row sees what those before it have made. The rules are those
 * of `POST` and `PATCH /v1/core/contacts`.
 */
export class ContactDrafts {
  readonly drafts = new Map<string, Draft>();
  readonly changes: DraftChange[] = [];
  /** Identities of the database that a contact of the batch takes from a soft-deleted one. */
  readonly yielded: OwnedIdentity[] = [];
  private readonly now: Date;
  private readonly moment: Moment;

  constructor(
    private readonly organizationId: string,
    private readonly known: KnownContacts,
    private readonly vault: NationalIdVault,
    private readonly options: BatchOptions,
    { now, ...by }: Omit<Moment, 'now'> & { readonly now: Date },
  ) {
    this.now = now;
    this.moment = { now: now.toISOString(), ...by };
  }

  /** @param named whom the row names, which takes a while to read */
  apply({ body }: BatchRow, named: readonly Identifier[]): BatchOutcome {
    try {
      return this.applied(body, named);
    } catch (error) {
      if (error instanceof Problem && error.status < 500)
        return { outcome: 'failed', errors: errorsOf(error) };
      throw error;
    }
  }

  /** The country of the contact that a row names, as the rows before have left it. */
  countryOf(named: readonly Identifier[]): string | null {
    const { contactId = '' } = this.ownerOf(named) ?? {};
    const contact = this.drafts.get(contactId)?.contact ?? this.known.contacts.get(contactId);
    return contact?.country ?? null;
  }

  private applied(body: CreateContactDto, named: readonly Identifier[]): BatchOutcome {
    const { matchBy, onExisting } = this.options;
    const isNamed = named.some(({ type }) => type === matchBy);
    if (!isNamed && body[matchBy] == null) throw refusal(matchBy, 'required', `\`${matchBy}\` is required.`);
    const owner = this.ownerOf(named);
    if (!owner) return this.create(body);
    if (onExisting === 'fail')
      throw refusal(matchBy, 'duplicate_value', `A contact has this \`${matchBy}\` already.`);
    if (onExisting === 'skip') return { outcome: 'skipped', contactId: owner.contactId };
    return this.update(owner.contactId, this.withoutFormerName(owner.contactId, body, named));
  }

  /** A contact that was merged is still named by its external id: that is one of its survivor's, and is to replace none. */
  private withoutFormerName(
    contactId: string,
    body: CreateContactDto,
    named: readonly Identifier[],
  ): CreateContactDto {
    const name = named.find(({ type }) => type === 'external_id');
    const holder = name && this.known.owners.get(keyOf(name));
    const { contact } = this.drafts.get(contactId) ?? this.draftOf(contactId);
    if (holder?.deleted !== false || holder.contactId !== contactId || contact.externalId === null)
      return body;
    const { external_id: _, ...rest } = body;
    return rest;
  }

  private ownerOf(named: readonly Identifier[]): OwnedIdentity | undefined {
    const match = named.find(({ type }) => type === this.options.matchBy);
    const owner = match && this.known.owners.get(keyOf(match));
    return owner?.deleted ? undefined : owner;
  }

  private create(body: CreateContactDto): BatchOutcome {
    const content = newContact(this.vault, this.organizationId, body, this.moment);
    const { now } = this;
    const contact = Object.assign(new Contact(), EMPTY, content, {
      organizationId: this.organizationId,
      id: newId(),
      source: this.options.source,
      createdAt: now,
      updatedAt: now,
    });
    const wanted = identitiesOf(contact);
    this.demandFree(contact, wanted);
    this.drafts.set(contact.id, { contact, created: true, changed: true });
    this.known.moveNationalId(undefined, contact);
    const added = this.claim(contact.id, wanted);
    const changed = Object.keys(content);
    this.changes.push({ change: { verb: 'created', row: contact, changed }, added, removed: [] });
    return { outcome: 'created', contactId: contact.id };
  }

  private update(contactId: string, body: CreateContactDto): BatchOutcome {
    const draft = this.drafts.get(contactId) ?? this.draftOf(contactId);
    const before = draft.contact;
    const { patch, times } = changedContact(this.vault, before, body, this.moment);
    const after = Object.assign(new Contact(), before, { fieldTimes: times });
    const changed: string[] = [];
    for (const [property, given] of Object.entries(patch)) {
      const value: unknown = given instanceof Whole ? given.value : given;
      if (sameJson(value, before[property as keyof Contact])) continue;
      Object.assign(after, { [property]: value });
      changed.push(property);
    }
    if (changed.length === 0) {
      draft.changed ||= !sameJson(times, before.fieldTimes);
      draft.contact = after;
      return { outcome: 'unchanged', contactId };
    }
    const [had, has] = [identitiesOf(before), identitiesOf(after)];
    const released = without(had, has);
    const wanted = without(has, had);
    this.demandFree(after, wanted);
    this.demandRoom(contactId, released, wanted);
    const removed = this.release(contactId, released);
    const added = this.claim(contactId, wanted);
    after.updatedAt = new Date(Math.max(this.now.getTime(), before.updatedAt.getTime() + 1));
    draft.contact = after;
    draft.changed = true;
    this.known.moveNationalId(before, after);
    this.changes.push({ change: { verb: 'updated', before, row: after, changed }, added, removed });
    return { outcome: 'updated', contactId };
  }

  private draftOf(contactId: string): Draft {
    const contact = this.known.contacts.get(contactId);
    if (!contact) throw new Error('A contact of the batch was not loaded');
    const draft = { contact, created: false, changed: false };
    this.drafts.set(contactId, draft);
    return draft;
  }

  /** @throws Problem `duplicate_value` */
  private demandFree(contact: Contact, wanted: readonly FieldIdentity[]): void {
    for (const identity of wanted) {
      const owner = this.known.owners.get(keyOf(identity));
      if (owner && !owner.deleted && owner.contactId !== contact.id)
        throw refusal(identity.type, 'duplicate_value', `Another contact has this \`${identity.type}\`.`);
    }
    const owner = this.known.ownerOfNationalId(contact);
    if (owner !== undefined && owner !== contact.id)
      throw refusal('national_id', 'duplicate_value', 'Another contact has this `national_id`.');
  }

  /** @throws Problem `limit_reached`, `last_identity` */
  private demandRoom(
    contactId: string,
    released: readonly FieldIdentity[],
    wanted: readonly FieldIdentity[],
  ): void {
    const held = this.known
      .heldBy(contactId)
      .filter((own) => !released.some((gone) => keyOf(gone) === keyOf(own)));
    const news = wanted.filter((each) => !held.some((own) => keyOf(own) === keyOf(each)));
    for (const { type } of news) {
      const limit = identityLimit(type);
      const count = [...held, ...news].filter((own) => own.type === type).length;
      if (count > limit)
        throw refusal(type, 'limit_reached', `A contact has at most ${limit} identities of this type.`);
    }
    if (released.length > 0 && held.length + news.length === 0)
      throw refusal(this.options.matchBy, 'last_identity', 'A contact keeps at least one identity.');
  }

  private claim(contactId: string, wanted: readonly FieldIdentity[]): OwnedIdentity[] {
    const added: OwnedIdentity[] = [];
    for (const { type, value, normal } of wanted) {
      const owner = this.known.owners.get(keyOf({ type, normal }));
      if (owner?.contactId === contactId) continue;
      if (owner?.deleted) this.yielded.push(owner);
      const identity = { id: newId(), contactId, type, value, normal, deleted: false, stored: false };
      this.known.add(identity);
      added.push(identity);
    }
    return added;
  }

  private release(contactId: string, released: readonly FieldIdentity[]): OwnedIdentity[] {
    const keys = new Set(released.map(keyOf));
    const removed = this.known.heldBy(contactId).filter((own) => keys.has(keyOf(own)));
    for (const identity of removed) this.known.remove(identity);
    return removed;
  }
}

/** Columns of a contact of which nothing was said. */
const EMPTY: Partial<Contact> = {
  ...recordOf([...FIELD_PROPERTIES, ...namesOf(NATIONAL_ID_COLUMNS)], () => null),
  mergedInto: null,
  deletedAt: null,
  erasedAt: null,
};

function without(these: readonly FieldIdentity[], those: readonly FieldIdentity[]): FieldIdentity[] {
  return these.filter((each) => !those.some((other) => keyOf(other) === keyOf(each)));
}

function refusal(field: string, code: FieldError['code'], detail: string): Problem {
  return Problem.validation([{ pointer: `/${field}`, code, detail }]);
}

function errorsOf(problem: Problem): FieldError[] {
  if (problem.errors) return [...problem.errors];
  const code: ProblemCode = problem.code;
  return [{ pointer: '', code, detail: problem.message }];
}
