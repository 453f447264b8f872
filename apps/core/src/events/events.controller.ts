import { Controller } from '@nestjs/common';
import {
  Context,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { EventDto } from './event.dto.js';
import { EVENT_LIST } from './event.list.js';
import { EventsService } from './events.service.js';

@Controller('v1/core/events')
export class EventsController {
  constructor(private readonly events: EventsService) {}

  @ListEndpoint({ permission: 'core.events.read', summary: 'List the stored events', response: EventDto })
  list(
    @Context() context: RequestContext,
    @ListRequest(EVENT_LIST) query: ListQuery,
  ): Promise<Page<EventDto>> {
    return this.events.list(context, query);
  }
}
