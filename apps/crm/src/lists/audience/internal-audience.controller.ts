import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Body } from '@customer-platform/http';
import { AudienceDto, AudienceMembersDto } from './audience.dto.js';
import { InternalAudienceService, type Audience, type AudiencePage } from './internal-audience.service.js';

@Controller('internal/audience')
export class InternalAudienceController {
  constructor(private readonly audience: InternalAudienceService) {}

  @InternalEndpoint({ method: 'POST', callers: ['messaging'] })
  find(@Body() body: AudienceDto): Promise<Audience> {
    return this.audience.find(body);
  }

  @InternalEndpoint({ method: 'POST', path: 'members', callers: ['messaging'] })
  members(@Body() body: AudienceMembersDto): Promise<AudiencePage> {
    return this.audience.members(body);
  }
}
