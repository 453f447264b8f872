import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Req, Res } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import {
  Context,
  Endpoint,
  ListRequest,
  Query,
  type ListQuery,
  type RequestContext,
} from '@customer-platform/http';
import { DeadLetterDto } from '../dead-letters/dead-letter.dto.js';
import { EventDto, EventPageDto, EVENT_LIST } from './event.dto.js';
import { EventsService } from './events.service.js';
import { LIVE_EXAMPLE, LiveQueryDto } from './live/live.dto.js';
import { LiveStreams } from './live/live-streams.js';

@Controller('v1/core/events')
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly streams: LiveStreams,
  ) {}

  @Endpoint({
    method: 'GET',
    permission: 'core.events.read',
    summary: 'List the stored events',
    description:
      '`gap` says that events which were asked for may be missing: the organization keeps them for a while only.',
    response: EventPageDto,
  })
  list(@Context() context: RequestContext, @ListRequest(EVENT_LIST) query: ListQuery): Promise<EventPageDto> {
    return this.events.list(context, query);
  }

  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description:
      'The `id` that was read last: goes on after it within five minutes, else with `gap` and the present.',
    schema: { type: 'string' },
  })
  @Endpoint({
    method: 'GET',
    path: 'stream',
    permission: 'core.events.read',
    summary: 'Follow the events as they are stored',
    description:
      'Server-sent events: `recorded` with an item of this list, `dead_lettered` with one of the dead letters (`event_id` ' +
      'and `code` alone for callers without `core.jobs.read`), `dropped` with the `count` that a slow reader has missed, ' +
      '`gap` where what was missed is not known. A comment comes every 15 s. It ends with the credential, and after some ' +
      'two minutes: come back with `Last-Event-ID`. Up to five of an organization are open at once.',
    response: { events: [EventDto, DeadLetterDto], example: LIVE_EXAMPLE },
  })
  stream(
    @Context() context: RequestContext,
    @Query() query: LiveQueryDto,
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
  ): Promise<void> {
    const { event, external_id: externalId, contact_id: contactId } = query;
    const filter = {
      ...(event === undefined ? {} : { event }),
      ...(externalId === undefined ? {} : { externalId }),
      ...(contactId === undefined ? {} : { contactId: contactId.toLowerCase() }),
    };
    return this.streams.open(context, filter, request, response);
  }
}
