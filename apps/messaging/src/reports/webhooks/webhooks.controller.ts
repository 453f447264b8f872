import { Controller } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiParam, ApiProperty, ApiQuery } from '@nestjs/swagger';
import { Answer, Authenticated, CorrelationId, Endpoint } from '@customer-platform/http';
import { IsInt } from 'class-validator';
import { BUILT_IN } from '../../providers/built-in.js';
import { ProviderCall } from './provider-signature.strategy.js';
import { WebhooksService } from './webhooks.service.js';

/** Names in the path. */
const WEBHOOKS = BUILT_IN.flatMap(({ webhooks }) => Object.keys(webhooks));

/** Answer of `POST /v1/messaging/webhooks/{provider}`. */
class WebhookReceiptDto {
  @ApiProperty({ description: 'How many reports the call brought, repeats among them.' })
  @IsInt()
  received: number;
}

const CHALLENGES = BUILT_IN.flatMap(({ webhooks }) =>
  Object.entries(webhooks).flatMap(([name, { challenge }]) => (challenge ? name : [])),
);

const TEXT = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };

@Controller('v1/messaging/webhooks')
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @ApiParam({ name: 'provider', enum: WEBHOOKS })
  @ApiQuery({
    name: 'key',
    required: false,
    schema: { type: 'string' },
    description: 'Of the channel’s `webhook_url`; without it the platform’s own account.',
  })
  @ApiConsumes('application/json', 'application/x-www-form-urlencoded')
  @ApiBody({
    schema: {
      type: 'object',
      additionalProperties: true,
      example: {
        provider_message_id: '<019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f@shop.example>',
        event: 'bounced',
        bounce_type: 'hard',
        occurred_at: '2026-11-21T09:30:00.000Z',
      },
    },
  })
  @Endpoint({
    method: 'POST',
    path: ':provider',
    authorization: 'provider_hmac',
    summary: 'Take a provider’s reports',
    description:
      'Signed as each provider signs; `key` of the channel’s `webhook_url` names the organization. Whom a report suppresses is suppressed when the answer is there; a repeat changes nothing.',
    apiClass: 'runtime',
    latencyClass: 'messaging_runtime',
    body: 'raw',
    response: WebhookReceiptDto,
    problems: ['invalid_signature', 'stale_signature', 'not_found'],
  })
  async take(
    @Authenticated() call: ProviderCall,
    @CorrelationId() correlationId: string,
  ): Promise<WebhookReceiptDto> {
    return { received: await this.webhooks.take(call, correlationId) };
  }

  @ApiParam({ name: 'provider', enum: CHALLENGES })
  @ApiQuery({
    name: 'key',
    schema: { type: 'string' },
    description: 'Of the channel’s `webhook_url`.',
  })
  @Endpoint({
    method: 'GET',
    path: ':provider',
    authorization: 'provider_hmac',
    summary: 'Answer a provider’s challenge',
    description:
      '`meta`: with `hub.mode=subscribe` and the channel’s `verify_token` in `hub.verify_token`, `hub.challenge` comes back as plain text. It changes nothing.',
    apiClass: 'runtime',
    latencyClass: 'messaging_runtime',
    problems: ['invalid_signature', 'not_found'],
  })
  challenge(@Authenticated() call: ProviderCall): Answer<string> {
    return new Answer(this.webhooks.answerChallenge(call), TEXT);
  }
}
