import { Injectable } from '@nestjs/common';
import { Clock, Database, type OrganizationScope } from '@customer-platform/database';
import { parseInstant, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import { ContactLookup } from '../contacts/contact-lookup.js';
import { ConsentRecorder, type NewConsent } from './consent-recorder.js';
import { toConsentDto, toConsentStateDto, type ConsentDto, type ConsentStateDto } from './consent.dto.js';
import { ConsentsRepository } from './consents.repository.js';

/** A page, or the survivor to which the contact was merged. */
type ConsentsAnswer =
  { readonly page: Page<ConsentDto> | Page<ConsentStateDto> } | { readonly survivorId: string };

/** The consents of contacts: what was said, and what holds. */
@Injectable()
export class ConsentsService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactLookup,
    private readonly consents: ConsentsRepository,
    private readonly recorder: ConsentRecorder,
    private readonly clock: Clock,
  ) {}

  /**
   * What holds now or held at `at`, or with `view=history` all that was said.
   * @throws Problem `not_found`
   */
  async list(context: OrganizationScope, contactId: string, query: ListQuery): Promise<ConsentsAnswer> {
    const at = instantOf(query);
    return this.database.inOrganization(context, async (tx) => {
      const contact = await this.contacts.read(tx, contactId);
      if ('survivorId' in contact) return contact;
      if (query.parameters['view'] === 'history') {
        const { data, page } = await this.consents.history(tx, contact.ids, query, at ?? null);
        return { page: { data: data.map(toConsentDto), page } };
      }
      const { data, page } = await this.consents.states(tx, contact.ids, query, at ?? this.clock.now());
      return { page: { data: data.map(toConsentStateDto), page } };
    });
  }

  /**
   * Records what a contact has said.
   * @throws Problem `not_found`, `contact_merged`, `resource_deleted`, `occurred_at_in_future`, `validation_failed`
   */
  async record(context: RequestContext, contactId: string, given: NewConsent): Promise<ConsentDto> {
    const prepared = this.recorder.prepare(context, given);
    return this.database.inOrganization(context, async (tx) => {
      const ids = await this.contacts.lockForWrite(tx, contactId);
      return toConsentDto(await this.recorder.record(tx, context, { contactId, ids }, prepared));
    });
  }
}

function instantOf(query: ListQuery): Date | undefined {
  const at = query.parameters['at'];
  const instant = typeof at === 'string' ? parseInstant(at) : undefined;
  return instant === undefined ? undefined : new Date(instant);
}
