import { Controller } from '@nestjs/common';
import {
  Body,
  Context,
  Endpoint,
  Id,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { BulkReplayDto, DeadLetterDto, ReplayFilterDto, DEAD_LETTER_LIST } from './dead-letter.dto.js';
import { DeadLettersService } from './dead-letters.service.js';

@Controller('v1/core/dead-letters')
export class DeadLettersController {
  constructor(private readonly letters: DeadLettersService) {}

  @ListEndpoint({
    permission: 'core.jobs.read',
    summary: 'List the events that failed',
    response: DeadLetterDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(DEAD_LETTER_LIST) query: ListQuery,
  ): Promise<Page<DeadLetterDto>> {
    return this.letters.list(context, query);
  }

  @Endpoint({
    method: 'POST',
    path: ':id/replay',
    permission: 'core.jobs.replay',
    summary: 'Run a failed event again from the stage at which it failed',
    success: 202,
    response: DeadLetterDto,
    problems: ['not_replayable'],
  })
  replay(@Context() context: RequestContext, @Id() id: string): Promise<DeadLetterDto> {
    return this.letters.replay(context, id);
  }

  @Endpoint({
    method: 'POST',
    path: 'replay',
    permission: 'core.jobs.replay',
    summary: 'Run all failed events again that a filter matches',
    description:
      'Up to 10,000 pending ones at once, the oldest first. Letters that are closed, queued or were run are left alone, ' +
      'so that the call can be repeated.',
    success: 202,
    response: BulkReplayDto,
    problems: ['invalid_filter'],
  })
  replayAll(@Context() context: RequestContext, @Body() body: ReplayFilterDto): Promise<BulkReplayDto> {
    return this.letters.replayAll(context, body.filter);
  }
}
