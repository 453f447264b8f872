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
import { ContactSegmentsService } from './contact-segments.service.js';
import { ContactSegmentDto, CONTACT_SEGMENT_LIST } from './segment.dto.js';

@Controller('v1/core/contacts/:id/segments')
export class ContactSegmentsController {
  constructor(private readonly segments: ContactSegmentsService) {}

  @ListEndpoint({
    permission: 'core.segments.read',
    summary: 'List the segments that a contact is or was in',
    also: [307],
    description:
      'Stays in soft-deleted segments are left out: nobody is followed there. The id of a merged contact redirects ' +
      '(307) to its survivor.',
    response: ContactSegmentDto,
    problems: ['not_found'],
  })
  async list(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(CONTACT_SEGMENT_LIST) query: ListQuery,
    @Req() request: IncomingMessage,
  ): Promise<Answer> {
    const page = await this.segments.page(context, id, query);
    if (!('survivorId' in page)) return new Answer(page);
    return Answer.atSurvivor(`/v1/core/contacts/${page.survivorId}/segments`, request);
  }
}
