import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  PurgeEndpoint,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { ContactDto, CreateContactDto, UpdateContactDto, CONTACT_LIST, toContactDto } from './contact.dto.js';
import { ContactsService } from './contacts.service.js';

const OF_FIELDS = ['duplicate_value', 'placeholder_identifier', 'invalid_national_id'] as const;

@Controller('v1/core/contacts')
export class ContactsController {
  constructor(private readonly contacts: ContactsService) {}

  @CreateEndpoint({
    permission: 'core.contacts.create',
    summary: 'Create a contact',
    description:
      'One of `external_id`, `email` and `phone` is required. A value of another contact is 409 with `conflicting_id`.',
    response: ContactDto,
    problems: [...OF_FIELDS, 'subject_erased'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateContactDto): Promise<Answer> {
    return Answer.newResource(toContactDto(await this.contacts.create(context, body)), '/v1/core/contacts');
  }

  @ListEndpoint({ permission: 'core.contacts.read', summary: 'List contacts', response: ContactDto })
  list(
    @Context() context: RequestContext,
    @ListRequest(CONTACT_LIST) query: ListQuery,
  ): Promise<Page<ContactDto>> {
    return this.contacts.list(context, query);
  }

  @GetEndpoint({
    permission: 'core.contacts.read',
    summary: 'Read a contact',
    also: [307],
    description: 'The id of a merged contact redirects (307) to its survivor.',
    response: ContactDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    const contact = await this.contacts.get(context, id);
    if (!('survivorId' in contact)) return Answer.resource(toContactDto(contact));
    return Answer.atSurvivor(`/v1/core/contacts/${contact.survivorId}`);
  }

  @UpdateEndpoint({
    permission: 'core.contacts.update',
    summary: 'Change a contact',
    description:
      'Counts as said now: no event of an earlier `occurred_at` overwrites it. Releases replaced values.',
    response: ContactDto,
    problems: [...OF_FIELDS, 'last_identity', 'contact_merged', 'subject_erased'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateContactDto,
  ): Promise<Answer> {
    return Answer.resource(toContactDto(await this.contacts.update(context, id, body)));
  }

  @SoftDeleteEndpoint({
    permission: 'core.contacts.delete',
    summary: 'Soft-delete a contact',
    problems: ['contact_merged'],
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.contacts.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'core.contacts.delete',
    summary: 'Restore a contact',
    response: ContactDto,
    problems: ['contact_merged'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toContactDto(await this.contacts.restore(context, id)));
  }

  @PurgeEndpoint({
    permission: 'core.contacts.purge',
    summary: 'Purge a contact without history',
    description:
      'Every module is asked for references, and holds back new ones meanwhile; while one is silent nothing is removed.',
    problems: ['contact_merged'],
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.contacts.purge(context, id);
  }
}
