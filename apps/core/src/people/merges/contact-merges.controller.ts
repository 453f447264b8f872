import type { IncomingMessage } from 'node:http';
import { Controller, Req } from '@nestjs/common';
import {
  Answer,
  Context,
  Id,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type RequestContext,
} from '@customer-platform/http';
import { ContactMergesService } from './contact-merges.service.js';
import { ContactMergeDto, CONTACT_MERGE_LIST } from './merge.dto.js';

@Controller('v1/core/contacts/:id/merges')
export class ContactMergesController {
  constructor(private readonly merges: ContactMergesService) {}

  @ListEndpoint({
    permission: 'core.contacts.merge',
    summary: 'List the merges of a contact',
    also: [307],
    description:
      'Those that brought others into it, one into another, and those that were undone on either side. The id of a ' +
      'merged contact redirects (307) to its survivor.',
    response: ContactMergeDto,
    problems: ['not_found'],
  })
  async list(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(CONTACT_MERGE_LIST) query: ListQuery,
    @Req() request: IncomingMessage,
  ): Promise<Answer> {
    const page = await this.merges.page(context, id, query);
    if (!('survivorId' in page)) return new Answer(page);
    return Answer.atSurvivor(`/v1/core/contacts/${page.survivorId}/merges`, request);
  }
}
