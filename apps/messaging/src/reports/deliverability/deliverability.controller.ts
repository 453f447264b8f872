import { Controller } from '@nestjs/common';
import { Context, Endpoint, Query, type RequestContext } from '@customer-platform/http';
import { DeliverabilityDto, DeliverabilityQueryDto } from './deliverability.dto.js';
import { DeliverabilityService } from './deliverability.service.js';

@Controller('v1/messaging/deliverability')
export class DeliverabilityController {
  constructor(private readonly deliverability: DeliverabilityService) {}

  @Endpoint({
    method: 'GET',
    permission: 'messaging.deliverability.read',
    summary: 'What became of sends, by when they were created',
    description:
      'Exact at every instant. Days and hours are UTC. Sends of the platform’s own mail are not among them.',
    response: DeliverabilityDto,
  })
  read(
    @Context() context: RequestContext,
    @Query() query: DeliverabilityQueryDto,
  ): Promise<DeliverabilityDto> {
    return this.deliverability.read(context, query);
  }
}
