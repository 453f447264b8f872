import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  GetEndpoint,
  Id,
  UpdateEndpoint,
  type RequestContext,
} from '@customer-platform/http';
import { ContactPreferencesService, type TaggedPreferences } from './contact-preferences.service.js';
import { ContactPreferencesDto, UpdateContactPreferencesDto } from './preferences.dto.js';

@Controller('v1/messaging/contacts')
export class ContactPreferencesController {
  constructor(private readonly preferences: ContactPreferencesService) {}

  @GetEndpoint({
    permission: 'messaging.preferences.read',
    path: ':id/preferences',
    summary: 'Read what a contact receives',
    description:
      '`objections` are what the person has declined, by themselves, by a link, or through staff. The id of a merged ' +
      'contact redirects (307) to its survivor.',
    also: [307],
    response: ContactPreferencesDto,
    problems: ['not_found', 'dependency_unavailable'],
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    const found = await this.preferences.get(context, id.toLowerCase());
    if (!('survivorId' in found)) return answerOf(id, found);
    return Answer.atSurvivor(`/v1/messaging/contacts/${found.survivorId}/preferences`);
  }

  @UpdateEndpoint({
    permission: 'messaging.preferences.update',
    path: ':id/preferences',
    summary: 'Say what a contact wants to receive',
    description:
      'On the person’s behalf, as JSON merge. What they have declined is lifted with a `reason` alone, which is ' +
      'audited. When the answer is there, nothing that was declined is handed over any more.',
    response: ContactPreferencesDto,
    problems: ['not_found', 'contact_merged', 'dependency_unavailable'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateContactPreferencesDto,
  ): Promise<Answer> {
    const wish = { channels: body.channels, reason: body.reason ?? null };
    return answerOf(id, await this.preferences.update(context, id.toLowerCase(), wish));
  }
}

function answerOf(id: string, { shown, etag }: TaggedPreferences): Answer<ContactPreferencesDto> {
  const objections = shown.objections.map(({ channel, topic, since }) => ({
    channel,
    topic,
    since: since.toISOString(),
  }));
  return Answer.tagged({ contact_id: id.toLowerCase(), channels: shown.channels, objections }, etag);
}
