import { Controller } from '@nestjs/common';
import { Context, Endpoint, Query, type RequestContext } from '@customer-platform/http';
import { UsageDto, UsageQueryDto } from './usage.dto.js';
import { UsageService } from './usage.service.js';

@Controller('v1/core/usage')
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Endpoint({
    method: 'GET',
    permission: 'core.usage.read',
    summary: 'Events and contacts by day or month, under the law of conservation',
    response: UsageDto,
  })
  read(@Context() context: RequestContext, @Query() query: UsageQueryDto): Promise<UsageDto> {
    return this.usage.read(context, query);
  }
}
