import { ApiProperty } from '@nestjs/swagger';
import {
  IsInstant,
  IsUUID,
  IsWithoutRepeats,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  type ListDefinition,
} from '@customer-platform/http';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsString,
  Length,
  ValidateNested,
} from 'class-validator';
import { WebhookDeliveryDto } from './deliveries/webhook-delivery.dto.js';
import { SIGNINGS, type Signing } from './signing-secrets.js';
import { SUBSCRIPTIONS } from '../vocabulary/makers/subscriptions.js';
import { type DisabledReason, isLive, type WebhookEndpointEntity } from './webhook-endpoint.entity.js';
import { toDeliveryDto, type DeliveryRow } from './deliveries/delivery-row.js';

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

  @ApiProperty({
    default: 'v1',
    description:
      'Of Standard Webhooks: `v1` by a secret (HMAC-SHA-256), `v1a` by a private key (Ed25519), of which `public_key` ' +
      'is the other half.',
  })
  @MayBeAbsent()
  @IsIn(SIGNINGS)
  signing?: Signing;
}

/** Body of `PATCH /v1/messaging/webhook-endpoints/{id}`: JSON merge. */
export class UpdateWebhookEndpointDto extends PatchOf(CreateWebhookEndpointDto) {
  @ApiProperty({ description: 'What waits when it is disabled goes on when it is enabled again.' })
  declare enabled?: boolean;

  @ApiProperty({
    description:
      'Another signing is another secret or key, by `rotate_secret`’s rules: the one before signs as well.',
  })
  declare signing?: Signing;

  @ApiProperty({
    description:
      'True: a new secret, shown in this answer alone, or of `v1a` a new pair. The one before signs as well for 24 h; ' +
      'five at most sign at once.',
  })
  @MayBeAbsent()
  @IsBoolean()
  rotate_secret?: boolean;

  @ApiProperty({
    description:
      'True: the caller answers for it from now on, and must be able to read what its events tell.',
  })
  @MayBeAbsent()
  @IsBoolean()
  adopt?: boolean;

  @ApiProperty({
    example: '2026-07-01T12:00:00.000Z',
    description:
      'At most 7 days ago. What failed since then, or was missed while the endpoint was disabled, is told again, the ' +
      'oldest first. The endpoint has to be enabled, by the same request or before.',
  })
  @MayBeAbsent()
  @IsInstant()
  replay_since?: string;
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
  signing: Signing;

  @ApiProperty({
    example: 'whpk_jVgmYdJ6yRkWW2VhBpXQhFbsMJmVHVvdvsoVuiDTNeE=',
    description: 'By which signatures of `v1a` are checked; null with `v1`.',
  })
  @MayBeNull()
  @IsString()
  public_key: string | null;

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

/** `GET /v1/messaging/webhook-endpoints` (messaging.md §8). */
export const WEBHOOK_ENDPOINTS_LIST: ListDefinition = {
  resource: 'messaging.webhook-endpoints',
  filters: {
    enabled: { type: 'boolean', column: 'enabled' },
    name: {
      type: 'string',
      column: 'name',
      prefixColumn: 'lower(name)',
      ops: ['eq', 'ne', 'in', 'is_null', 'prefix'],
    },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
    name: { type: 'string', column: 'name', byLanguage: true },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** An endpoint as it is answered; its secret is not part of it. */
export function toWebhookEndpointDto(
  row: WebhookEndpointEntity,
  deliveries: readonly DeliveryRow[],
): WebhookEndpointDto {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    events: row.events,
    enabled: row.enabled,
    signing: row.signing,
    public_key: row.signing === 'v1a' ? (row.secrets[0]?.public_key ?? null) : null,
    disabled_reason: row.disabledReason,
    recent_deliveries: deliveries.map((delivery) => toDeliveryDto(delivery, isLive(row))),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}
