import type { IncomingMessage } from 'node:http';
import { Controller, Req } from '@nestjs/common';
import {
  AnyBody,
  Answer,
  Body,
  Context,
  Endpoint,
  Id,
  ListEndpoint,
  ListRequest,
  Query,
  readNaturalKey,
  type ListQuery,
  type RequestContext,
} from '@customer-platform/http';
import { CreateIdentityDto, IdentityDto, IdentityKeyDto, IDENTITY_LIST } from './identity.dto.js';
import { IdentitiesService } from './identities.service.js';

const OF_CONTACT = ['contact_merged', 'resource_deleted'] as const;
const OF_REMOVAL = [...OF_CONTACT, 'last_identity'] as const;

@Controller('v1/core/contacts/:id/identities')
export class IdentitiesController {
  constructor(private readonly identities: IdentitiesService) {}

  @ListEndpoint({
    permission: 'core.contacts.update',
    summary: 'List the identities of a contact',
    also: [307],
    description: 'The id of a merged contact redirects (307) to its survivor.',
    response: IdentityDto,
  })
  async list(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(IDENTITY_LIST) query: ListQuery,
    @Req() request: IncomingMessage,
  ): Promise<Answer> {
    const page = await this.identities.list(context, id, query);
    if (!('survivorId' in page)) return new Answer(page);
    return Answer.atSurvivor(`/v1/core/contacts/${page.survivorId}/identities`, request);
  }

  @Endpoint({
    method: 'POST',
    permission: 'core.contacts.update',
    summary: 'Give a contact an identity',
    also: [200],
    description:
      'What is its own already is 200. Of another contact it is 409 with `conflicting_id`; beyond the limit of its type 409.',
    success: 201,
    response: IdentityDto,
    problems: [...OF_CONTACT, 'placeholder_identifier', 'duplicate_value', 'limit_reached', 'subject_erased'],
  })
  async add(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: CreateIdentityDto,
  ): Promise<Answer> {
    const { identity, created } = await this.identities.add(context, id, body);
    return created
      ? Answer.created(
          identity,
          `/v1/core/contacts/${id}/identities?type=${encodeURIComponent(identity.type)}`,
        )
      : new Answer(identity, {}, 200);
  }

  @Endpoint({
    method: 'DELETE',
    permission: 'core.contacts.update',
    summary: 'Take an identity from a contact',
    description: 'By `type` and `value` in the query, or in a JSON body.',
    success: 204,
    problems: OF_REMOVAL,
  })
  async removeValue(
    @Context() context: RequestContext,
    @Id() id: string,
    @Query() query: IdentityKeyDto,
    @AnyBody() body: unknown,
  ): Promise<void> {
    const { type, value } = await readNaturalKey(IdentityKeyDto, { query, body }, ['type', 'value']);
    await this.identities.removeValue(context, id, type, value);
  }

  @Endpoint({
    method: 'DELETE',
    path: ':identity_id',
    permission: 'core.contacts.update',
    summary: 'Take an identity from a contact, by its id',
    success: 204,
    body: 'none',
    problems: OF_REMOVAL,
  })
  remove(
    @Context() context: RequestContext,
    @Id() id: string,
    @Id('identity_id') identityId: string,
  ): Promise<void> {
    return this.identities.remove(context, id, identityId);
  }
}
