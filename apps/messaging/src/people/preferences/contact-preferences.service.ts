import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import type { Transaction } from '@customer-platform/database';
import { etagOf, requireMatch, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactRefresh } from '../contacts/contact-refresh.js';
import type { Contact } from '../../vocabulary/contacts/contact.js';
import { ContactsRepository } from '../contacts/contacts.repository.js';
import { readShape } from '../../vocabulary/shapes/read-shape.js';
import { choicesOf, liftedBy, preferencesPatch, type Choice } from './preference-document.js';
import { PreferencesService, type ShownPreferences } from './preferences.service.js';

/** Preferences as staff sees them, with the tag of what they are. */
export interface TaggedPreferences {
  readonly shown: ShownPreferences;
  readonly etag: string;
}

/** Shows and changes what people want to receive, for staff on their behalf (messaging.md §11). */
@Injectable()
export class ContactPreferencesService {
  constructor(
    private readonly preferences: PreferencesService,
    private readonly refresh: ContactRefresh,
    private readonly contacts: ContactsRepository,
  ) {}

  /**
   * The preferences of a contact, soft-deleted or not, or the survivor of one that is merged.
   * @throws Problem `not_found`, `dependency_unavailable` while core does not say who it is
   */
  async get(
    context: RequestContext,
    id: string,
  ): Promise<TaggedPreferences | { readonly survivorId: string }> {
    const contact = await this.demand(context, id);
    if (contact.id !== id) return { survivorId: contact.id };
    return tagged(await this.preferences.get(context, id));
  }

  /**
   * Changes them as JSON merge. What the person has declined stays declined where no reason says why it is lifted.
   * @throws Problem `validation_failed`, `not_found`, `contact_merged`, `resource_deleted`, `etag_mismatch`,
   * `dependency_unavailable`
   */
  async update(
    context: RequestContext,
    id: string,
    { channels, reason }: { readonly channels: object | undefined; readonly reason: string | null },
  ): Promise<TaggedPreferences> {
    const patch = channels === undefined ? {} : { channels };
    const choices = choicesOf(readShape(preferencesPatch, patch, ''));
    demandWritable(await this.demand(context, id), id);
    const demand = async (tx: Transaction, before: ShownPreferences): Promise<string | null> => {
      // Under the gate's locks: an erasure that has begun since is seen, one that begins later takes this with it.
      const ref = { organizationId: context.organizationId, id };
      const known = await this.contacts.resolve(tx, [ref]);
      demandWritable(demandThere(known.get(contactKey(ref))), id);
      requireMatch(context.ifMatch, tagged(before).etag);
      demandReason(before, choices, reason);
      return reason;
    };
    return tagged(await this.preferences.change(context, { contactId: id, choices, demand }));
  }

  private async demand({ organizationId }: RequestContext, id: string): Promise<Contact> {
    return demandThere(await this.refresh.find(organizationId, id));
  }
}

function demandThere(contact: Contact | undefined): Contact {
  if (contact && (contact.state === 'active' || contact.state === 'deleted')) return contact;
  throw new Problem('not_found');
}

function demandWritable(contact: Contact, id: string): void {
  if (contact.id !== id) throw new Problem('contact_merged', { members: { survivor_id: contact.id } });
  if (contact.state === 'deleted') throw new Problem('resource_deleted');
}

function demandReason(
  { objections }: ShownPreferences,
  choices: readonly Choice[],
  reason: string | null,
): void {
  if ((reason ?? '').trim() !== '' || liftedBy(objections, choices).length === 0) return;
  const detail = 'The person has declined this; say why it is lifted.';
  throw Problem.validation([{ pointer: '/reason', code: 'required', detail }]);
}

function tagged(shown: ShownPreferences): TaggedPreferences {
  const objections = shown.objections.map(({ since, ...what }) => ({ ...what, since: since.toISOString() }));
  return { shown, etag: etagOf({ channels: shown.channels, objections }) };
}
