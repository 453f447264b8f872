import { Controller } from '@nestjs/common';
import { Body, Context, Endpoint, type RequestContext } from '@customer-platform/http';
import { PreferencesDto, UpdatePreferencesDto } from './preferences.dto.js';
import { PreferencesService, type ShownPreferences } from './preferences.service.js';

@Controller('v1/messaging/members/me/preferences')
export class PreferencesController {
  constructor(private readonly preferences: PreferencesService) {}

  @Endpoint({
    method: 'GET',
    authorization: 'member_token',
    apiClass: 'member',
    latencyClass: 'member_messaging',
    summary: 'Read what one receives',
    response: PreferencesDto,
  })
  async get(@Context() context: RequestContext): Promise<PreferencesDto> {
    return toDto(await this.preferences.get(context));
  }

  @Endpoint({
    method: 'PATCH',
    authorization: 'member_token',
    apiClass: 'member',
    latencyClass: 'member_messaging',
    summary: 'Say what one wants to receive',
    description:
      'When the answer is there, nothing that was declined is handed over any more. What a link has ended begins again here.',
    response: PreferencesDto,
  })
  async update(
    @Context() context: RequestContext,
    @Body() body: UpdatePreferencesDto,
  ): Promise<PreferencesDto> {
    return toDto(await this.preferences.update(context, { ...body }));
  }
}

function toDto({ channels, readUntil }: ShownPreferences): PreferencesDto {
  return { channels, notifications_read_until: readUntil?.toISOString() ?? null };
}
