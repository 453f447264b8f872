import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, IsWithoutRepeats, MayBeAbsent, MayBeNull, PatchOf } from '@customer-platform/http';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  IsUUID,
  Length,
  ValidateNested,
} from 'class-validator';
import { SUBSCRIPTIONS } from './subscriptions.js';
import { SIGNINGS, type DisabledReason } from './webhook-endpoint.entity.js';

const NAME = { description: 'Unique among active endpoints.', example: 'Orders of the shop' };
const URL_FIELD = {
  description:
    'https, to public addresses only; in local mode also this machine, by http too. Redirects are not followed.',
  example: 'https://shop.example/hooks',
};
const EVENTS = {
  isArray: true,
  enum: [...SUBSCRIPTIONS],
  description: 'Names of events, without version, of any module; `messaging.*` for all of one.',
  example: ['core.contact.created', 'messaging.*'],
};
const REASONS = ['manual', 'gone', 'failing'] as const;
const STATES = ['pending', 'delivered', 'failed'] as const;

/** Body of `POST /v1/messaging/webhook-endpoints`. */
export class CreateWebhookEndpointDto {
  @ApiProperty(NAME)
  @IsString()
  @Length(1, 120)
  name: string;

  @ApiProperty(URL_FIELD)
  @IsString()
  @Length(1, 2_048)
  url: string;

  @ApiProperty(EVENTS)
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(SUBSCRIPTIONS.length)
  @IsWithoutRepeats()
  @IsIn(SUBSCRIPTIONS, { each: true })
  events: string[];

  @ApiProperty({ default: true })
  @MayBeAbsent()
  @IsBoolean()
  enabled?: boolean;

  @ApiProperty({ default: 'v1', description: 'Standard Webhooks: HMAC-SHA-256.' })
  @MayBeAbsent()
  @IsIn(SIGNINGS)
  signing?: (typeof SIGNINGS)[number];
}

/** Body of `PATCH /v1/messaging/webhook-endpoints/{id}`: JSON merge. */
export class UpdateWebhookEndpointDto extends PatchOf(CreateWebhookEndpointDto) {
  @ApiProperty({ description: 'What waits when it is disabled goes on when it is enabled again.' })
  declare enabled?: boolean;

  @ApiProperty({
    description:
      'True: a new secret, shown in this answer alone. The one before signs as well for 24 h; five at most sign at once.',
  })
  @MayBeAbsent()
  @IsBoolean()
  rotate_secret?: boolean;
}

/** What has become of one event on its way to the endpoint. */
export class WebhookDeliveryDto {
  @ApiProperty({ description: 'The `webhook-id` of every try.' })
  @IsUUID()
  event_id: string;

  @ApiProperty({ example: 'core.contact.created' })
  @IsString()
  type: string;

  @IsIn(STATES)
  state: (typeof STATES)[number];

  @IsInt()
  attempts: number;

  @ApiProperty({ description: 'Of the last answer, if there was one.' })
  @MayBeNull()
  @IsInt()
  status_code: number | null;

  @ApiProperty({
    example: 'timeout',
    description: 'Why the last try failed; `not_permitted`: its maker could not read the event any more.',
  })
  @MayBeNull()
  @IsString()
  error: string | null;

  @IsInstant()
  created_at: string;

  @MayBeNull()
  @IsInstant()
  attempted_at: string | null;

  @ApiProperty({ description: 'Null at its end, and while the endpoint is disabled.' })
  @MayBeNull()
  @IsInstant()
  next_attempt_at: string | null;
}

/** An endpoint as it is answered. */
export class WebhookEndpointDto {
  @IsUUID()
  id: string;

  @ApiProperty({ example: NAME.example })
  @IsString()
  name: string;

  @ApiProperty({ example: URL_FIELD.example })
  @IsString()
  url: string;

  @ApiProperty({ type: [String], example: ['core.contact.created', 'messaging.*'] })
  @IsArray()
  @IsString({ each: true })
  events: string[];

  @IsBoolean()
  enabled: boolean;

  @IsIn(SIGNINGS)
  signing: (typeof SIGNINGS)[number];

  @ApiProperty({ description: '`gone`: it answered 410; `failing`: five days without a success.' })
  @MayBeNull()
  @IsIn(REASONS)
  disabled_reason: DisabledReason | null;

  @ApiProperty({ type: () => [WebhookDeliveryDto], maxItems: 100, description: 'The newest 100.' })
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => WebhookDeliveryDto)
  recent_deliveries: WebhookDeliveryDto[];

  @IsInstant()
  created_at: string;

  @IsInstant()
  updated_at: string;

  @MayBeNull()
  @IsInstant()
  deleted_at: string | null;
}

/** An endpoint with a secret that is shown this once. */
export class WebhookEndpointWithSecretDto extends WebhookEndpointDto {
  @ApiProperty({
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    description: 'When it is new, and never again.',
  })
  @MayBeAbsent()
  @IsString()
  secret?: string;
}
