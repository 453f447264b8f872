import type { IncomingMessage } from 'node:http';
import { Controller, Req } from '@nestjs/common';
import {
  Answer,
  Context,
  Endpoint,
  Id,
  ListRequest,
  type ListQuery,
  type RequestContext,
} from '@customer-platform/http';
import { TimelineDto, TIMELINE_LIST } from './timeline.dto.js';
import { TimelineService } from './timeline.service.js';

const JSON_TYPE = 'application/json; charset=utf-8';

@Controller('v1/crm/contacts')
export class TimelineController {
  constructor(private readonly timelines: TimelineService) {}

  @Endpoint({
    method: 'GET',
    path: ':id/timeline',
    permission: 'crm.timeline.read',
    latencyClass: 'timeline',
    summary: 'Read a contact’s timeline',
    also: [307],
    description:
      'Events, consents, point movements and messages in one order, each part only with the permission of its own ' +
      'module. A merged contact’s timeline is its survivor’s: 307.',
    response: TimelineDto,
    problems: ['dependency_unavailable'],
  })
  async read(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(TIMELINE_LIST) query: ListQuery,
    @Req() request: IncomingMessage,
  ): Promise<Answer> {
    const answer = await this.timelines.read(context, id, query);
    if (answer.kind === 'timeline') return new Answer(answer.text, { 'Content-Type': JSON_TYPE });
    return Answer.atSurvivor(`/v1/crm/contacts/${answer.survivorId}/timeline`, request);
  }
}
