import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Body } from '@customer-platform/http';
import { AudienceDto, AudienceMembersDto } from './audience.dto.js';
import { Audiences, type Audience, type AudiencePage } from './audiences.js';

/** Answers messaging to whom a campaign goes (contract.md §9). */
@Controller('internal/audience')
export class AudienceController {
  constructor(private readonly audiences: Audiences) {}

  @InternalEndpoint({ method: 'POST', callers: ['messaging'] })
  find(@Body() body: AudienceDto): Promise<Audience> {
    return this.audiences.find(body);
  }

  @InternalEndpoint({ method: 'POST', path: 'members', callers: ['messaging'] })
  members(@Body() body: AudienceMembersDto): Promise<AudiencePage> {
    return this.audiences.members(body);
  }
}
