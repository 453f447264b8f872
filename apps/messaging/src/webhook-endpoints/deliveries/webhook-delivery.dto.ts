import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, IsUUID, MayBeNull, type ListDefinition } from '@customer-platform/http';
import { Type } from 'class-transformer';
import { IsArray, IsIn, IsInt, IsString, ValidateNested } from 'class-validator';
import { EVENT_NAMES } from '../../vocabulary/makers/subscriptions.js';

/** `paused`: it waits for its endpoint to be enabled. */
const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'paused'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One try to tell an endpoint something. */
export class WebhookTryDto {
  @ApiProperty({ description: 'When it began.' })
  @IsInstant()
  at: string;

  @ApiProperty({ example: 503, description: 'Of the answer, if there was one.' })
  @MayBeNull()
  @IsInt()
  status: number | null;

  @ApiProperty({ example: 'status_not_2xx', description: 'Null after a success.' })
  @MayBeNull()
  @IsString()
  error: string | null;

  @ApiProperty({ description: 'How long it took, in milliseconds.' })
  @IsInt()
  ms: number;
}

/** What has become of one event on its way to the endpoint. */
export class WebhookDeliveryDto {
  @ApiProperty({ description: 'By which it is told again.' })
  @IsUUID()
  id: string;

  @ApiProperty({ description: 'The `webhook-id` of every try.' })
  @IsUUID()
  event_id: string;

  @ApiProperty({ example: 'core.contact.created' })
  @IsString()
  type: string;

  @ApiProperty({ description: '`paused`: it waits until the endpoint is enabled.' })
  @IsIn(DELIVERY_STATES)
  state: DeliveryState;

  @ApiProperty({ description: 'Since it was last asked for.' })
  @IsInt()
  attempts: number;

  @ApiProperty({ description: 'Of the last answer, if there was one.' })
  @MayBeNull()
  @IsInt()
  status_code: number | null;

  @ApiProperty({
    example: 'timeout',
    description:
      'Why the last try failed; `not_permitted`: its maker could not read the event any more; `endpoint_disabled`: ' +
      'nothing was tried, for the endpoint was disabled when the event came.',
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

/** A delivery with all that was tried. */
export class TriedDeliveryDto extends WebhookDeliveryDto {
  @ApiProperty({ type: () => [WebhookTryDto], maxItems: 30, description: 'Oldest first; the newest 30.' })
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => WebhookTryDto)
  tries: WebhookTryDto[];
}

/** `GET /v1/messaging/webhook-endpoints/{id}/deliveries` (messaging.md §8). */
export const DELIVERIES_LIST: ListDefinition = {
  resource: 'messaging.webhook-deliveries',
  filters: {
    state: { type: 'enum', column: 'state', values: DELIVERY_STATES },
    type: { type: 'enum', column: 'type', values: EVENT_NAMES },
    event_id: { type: 'uuid', column: 'event_id' },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: { created_at: { type: 'time', column: 'created_at' } },
  defaultSort: '-created_at',
  tieBreaker: { field: 'event_id', column: 'event_id', type: 'uuid' },
};
