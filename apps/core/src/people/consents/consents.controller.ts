import type { IncomingMessage } from 'node:http';
import { Controller, Req } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  Endpoint,
  Id,
  ListRequest,
  type ListQuery,
  type RequestContext,
} from '@customer-platform/http';
import { ConsentDto, ConsentStateDto, CreateConsentDto, CONSENT_LIST } from './consent.dto.js';
import { ConsentsService } from './consents.service.js';

@Controller('v1/core/contacts')
export class ConsentsController {
  constructor(private readonly consents: ConsentsService) {}

  @Endpoint({
    method: 'GET',
    path: ':id/consents',
    permission: 'core.consents.read',
    summary: 'Read what a contact has agreed to',
    also: [307],
    description:
      'What holds for each purpose and channel, now or at `at`; with `view=history` all that was said. A merged ' +
      'contact’s consents are its survivor’s: 307.',
    response: { page: { oneOf: [ConsentStateDto, ConsentDto] } },
  })
  async list(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(CONSENT_LIST) query: ListQuery,
    @Req() request: IncomingMessage,
  ): Promise<unknown> {
    const answer = await this.consents.list(context, id, query);
    if ('page' in answer) return answer.page;
    return Answer.atSurvivor(`/v1/core/contacts/${answer.survivorId}/consents`, request);
  }

  @Endpoint({
    method: 'POST',
    path: ':id/consents',
    permission: 'core.consents.write',
    summary: 'Record what a contact has said',
    description: 'Appended for ever: what holds follows from all that was said.',
    response: ConsentDto,
    problems: ['occurred_at_in_future', 'contact_merged', 'resource_deleted'],
  })
  record(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: CreateConsentDto,
  ): Promise<ConsentDto> {
    return this.consents.record(context, id, body);
  }
}
