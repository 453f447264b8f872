import { Controller } from '@nestjs/common';
import { Answer, Body, Context, Endpoint, type RequestContext } from '@customer-platform/http';
import { ChannelSettingsDto } from './channel-settings.dto.js';
import { ChannelSettingsService } from './channel-settings.service.js';

@Controller('v1/messaging/channel-settings')
export class ChannelSettingsController {
  constructor(private readonly settings: ChannelSettingsService) {}

  @Endpoint({
    method: 'GET',
    permission: 'messaging.channels.read',
    summary: 'Read how the organization sends',
    description: 'Secrets are shown as `{set, fingerprint, updated_at}`.',
    response: ChannelSettingsDto,
  })
  async get(@Context() context: RequestContext): Promise<Answer> {
    const { body, etag } = await this.settings.get(context);
    return Answer.tagged(body, etag);
  }

  @Endpoint({
    method: 'PUT',
    permission: 'messaging.channels.update',
    summary: 'Replace how the organization sends',
    description:
      'A secret left out of a present channel is kept, null clears it, another provider or host drops it; a channel left out is disabled. Another account, and `adopt`, take the permissions that read messages.',
    response: ChannelSettingsDto,
    problems: [
      'privilege_escalation',
      'destination_not_allowed',
      'invalid_address',
      'sender_domain_unverified',
      'etag_mismatch',
    ],
  })
  async replace(@Context() context: RequestContext, @Body() body: ChannelSettingsDto): Promise<Answer> {
    const shown = await this.settings.replace(context, body);
    return Answer.tagged(shown.body, shown.etag);
  }
}
