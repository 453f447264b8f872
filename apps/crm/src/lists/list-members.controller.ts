import { Controller } from '@nestjs/common';
import {
  AnyBody,
  Body,
  Context,
  Endpoint,
  Id,
  ListEndpoint,
  ListRequest,
  Query,
  readNaturalKey,
  type ListQuery,
  type Page,
  type RequestContext,
  validateBody,
} from '@customer-platform/http';
import { AddedMembersDto, ListMemberDto, ListMembersDto, ListMembersQuery } from './list-member.dto.js';
import { ListMembersService } from './list-members.service.js';
import { LIST_MEMBERS_LIST } from './list.dto.js';

@Controller('v1/crm/lists/:id/members')
export class ListMembersController {
  constructor(private readonly members: ListMembersService) {}

  @Endpoint({
    method: 'POST',
    permission: 'crm.lists.update',
    summary: 'Add contacts to a list',
    description: 'Good ids go in though others are rejected. Only when all are rejected it is 422.',
    success: 200,
    response: AddedMembersDto,
    problems: [
      'resource_deleted',
      'list_full',
      'reference_not_found',
      'reference_deleted',
      'dependency_unavailable',
    ],
  })
  add(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: ListMembersDto,
  ): Promise<AddedMembersDto> {
    return this.members.add(context, id, body.contact_ids);
  }

  @ListEndpoint({
    permission: 'crm.lists.read',
    summary: 'List the members of a list',
    description: 'Of a soft-deleted list too.',
    response: ListMemberDto,
    problems: ['dependency_unavailable'],
  })
  list(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(LIST_MEMBERS_LIST) query: ListQuery,
  ): Promise<Page<ListMemberDto>> {
    return this.members.list(context, id, query);
  }

  @Endpoint({
    method: 'DELETE',
    permission: 'crm.lists.update',
    summary: 'Remove contacts from a list',
    description:
      'By `contact_id` in the query, repeated, or by the body that adds them. Never all: no id is 400.',
    success: 204,
    problems: ['resource_deleted'],
  })
  async removeSeveral(
    @Context() context: RequestContext,
    @Id() id: string,
    @Query() query: ListMembersQuery,
    @AnyBody() body: unknown,
  ): Promise<void> {
    await this.members.remove(context, id, await idsOf(query, body));
  }

  @Endpoint({
    method: 'DELETE',
    path: ':contact_id',
    permission: 'crm.lists.update',
    summary: 'Remove a contact from a list',
    success: 204,
    body: 'none',
    problems: ['resource_deleted'],
  })
  async remove(
    @Context() context: RequestContext,
    @Id() id: string,
    @Id('contact_id') contactId: string,
  ): Promise<void> {
    await this.members.remove(context, id, [contactId]);
  }
}

/** What the query names, or else the body. */
async function idsOf(query: ListMembersQuery, body: unknown): Promise<readonly unknown[]> {
  if (body !== undefined) return (await validateBody(ListMembersDto, body)).contact_ids;
  return (await readNaturalKey(ListMembersQuery, { query, body }, ['contact_id'])).contact_id;
}
