import { ApiProperty } from '@nestjs/swagger';
import {
  IsInstant,
  IsLocaleTag,
  IsUUID,
  MayBeAbsent,
  MayBeNull,
  type ListDefinition,
} from '@customer-platform/http';
import { IsIn, IsInt, IsObject, IsString, Length } from 'class-validator';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import { SEND_SOURCES, type Category } from '../../vocabulary/sends/send.js';
import { SEND_STATES, type SendState } from '../../vocabulary/sends/send-state.js';

const CATEGORIES = ['transactional', 'marketing'] as const;

/** Body of `POST /v1/messaging/sends`. */
export class CreateSendDto {
  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({
    description: 'One of `contact_id`, `external_id`, `address`.',
    example: { address: 'ana@example.com' },
  })
  @IsObject()
  recipient: object;

  @ApiProperty({ description: 'Or `content`.' })
  @MayBeAbsent()
  @IsUUID()
  template_id?: string;

  @ApiProperty({
    description: 'Parts as in a template of the channel, instead of `template_id`.',
    example: { subject: 'Your order', text: 'It is on its way.' },
  })
  @MayBeAbsent()
  @IsObject()
  content?: Record<string, unknown>;

  @ApiProperty({ description: 'At most 64 KiB.' })
  @MayBeAbsent()
  @IsObject()
  data?: Record<string, unknown>;

  @ApiProperty({ example: 'es-CL' })
  @MayBeAbsent()
  @IsLocaleTag()
  locale?: string;

  @ApiProperty({ default: 'transactional' })
  @MayBeAbsent()
  @IsIn(CATEGORIES)
  category?: Category;

  @ApiProperty({ description: 'Key of a topic in channel-settings.' })
  @MayBeAbsent()
  @IsString()
  @Length(1, 40)
  topic?: string;

  @ApiProperty({ description: '`Name <address>` or the address, instead of the channel’s.' })
  @MayBeAbsent()
  @IsString()
  @Length(1, 400)
  from?: string;

  @ApiProperty({ description: 'At most 30 days ahead.' })
  @MayBeAbsent()
  @IsInstant()
  not_before?: string;

  @ApiProperty({ description: 'Not sent after it.' })
  @MayBeAbsent()
  @IsInstant()
  expires_at?: string;

  @ApiProperty({ description: 'Comes back in events; at most 4 KiB.' })
  @MayBeAbsent()
  @IsObject()
  metadata?: Record<string, unknown>;
}

/** Answer of `POST /v1/messaging/sends`. */
export class AcceptedSendDto {
  @IsUUID()
  send_id: string;

  @IsIn(SEND_STATES)
  state: SendState;
}

/** A send as it is answered. */
export class SendDto {
  @IsUUID()
  id: string;

  @IsIn(CHANNELS)
  channel: Channel;

  @IsIn(SEND_STATES)
  state: SendState;

  @MayBeNull()
  @IsString()
  reason: string | null;

  @IsIn(CATEGORIES)
  category: Category;

  @MayBeNull()
  @IsString()
  topic: string | null;

  @MayBeNull()
  @IsUUID()
  contact_id: string | null;

  @MayBeNull()
  @IsString()
  address: string | null;

  @MayBeNull()
  @IsString()
  subject: string | null;

  @ApiProperty({
    description:
      '`identity`: the platform’s own mail of an invitation or a new password; nothing of its content is kept.',
  })
  @IsIn(SEND_SOURCES)
  source: string;

  @ApiProperty({
    description:
      'The rule, campaign or invitation; of a test, and of nothing else that is asked for here, the template.',
  })
  @MayBeNull()
  @IsUUID()
  source_id: string | null;

  @MayBeNull()
  @IsUUID()
  campaign_id: string | null;

  @ApiProperty({ description: 'Of the campaign.' })
  @MayBeNull()
  @IsUUID()
  run_id: string | null;

  @MayBeNull()
  @IsUUID()
  template_id: string | null;

  @MayBeNull()
  @IsInt()
  template_version: number | null;

  @MayBeNull()
  @IsString()
  locale: string | null;

  @MayBeNull()
  @IsString()
  provider: string | null;

  @MayBeNull()
  @IsString()
  provider_message_id: string | null;

  @IsInt()
  attempts: number;

  @MayBeNull()
  @IsObject()
  metadata: Record<string, unknown> | null;

  @ApiProperty({
    description:
      'When subject and metadata were removed, for the organization keeps them for a while only; null: they were not.',
  })
  @MayBeNull()
  @IsInstant()
  content_removed_at: string | null;

  @ApiProperty({ description: 'When it is taken up again.' })
  @MayBeNull()
  @IsInstant()
  release_at: string | null;

  @MayBeNull()
  @IsInstant()
  expires_at: string | null;

  @ApiProperty({ description: 'Where it stands in the timeline: when it was accepted.' })
  @IsInstant()
  occurred_at: string;

  @MayBeNull()
  @IsInstant()
  sent_at: string | null;

  @MayBeNull()
  @IsUUID()
  correlation_id: string | null;

  @IsInstant()
  created_at: string;

  @IsInstant()
  updated_at: string;
}

/** One step of a send. */
export class SendStepDto {
  @IsIn(SEND_STATES)
  state: SendState;

  @MayBeNull()
  @IsString()
  reason: string | null;

  @IsInt()
  attempt: number;

  @MayBeNull()
  @IsString()
  provider_event_id: string | null;

  @MayBeNull()
  @IsInt()
  smtp_code: number | null;

  @IsInstant()
  occurred_at: string;
}

/** `GET /v1/messaging/sends` (messaging.md §5): a timeline source, by the instant of acceptance. */
export const SENDS_LIST: ListDefinition = {
  resource: 'messaging.sends',
  filters: {
    id: { type: 'uuid', column: 'id' },
    contact_id: { type: 'uuid', column: 'contact_id', ops: ['eq', 'in', 'ne', 'is_null'] },
    address: {
      type: 'string',
      column: 'address_key',
      ops: ['eq', 'in'],
      description: 'Any spelling of the address.',
    },
    channel: { type: 'enum', column: 'channel', values: CHANNELS },
    category: { type: 'enum', column: 'category', values: ['transactional', 'marketing'] },
    topic: { type: 'string', column: 'topic' },
    state: { type: 'enum', column: 'state', values: SEND_STATES },
    reason: { type: 'string', column: 'reason' },
    source: { type: 'enum', column: 'source', values: SEND_SOURCES },
    source_id: { type: 'uuid', column: 'source_id' },
    campaign_id: { type: 'uuid', column: 'run_id', ops: ['eq', 'in'] },
    run_id: { type: 'uuid', column: 'run_id' },
    template_id: { type: 'uuid', column: 'template_id' },
    correlation_id: { type: 'uuid', column: 'correlation_id' },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    occurred_at: { type: 'time', column: 'created_at' },
  },
  defaultSort: '-created_at',
  timelineSource: { occurredAt: 'created_at' },
};

/** `GET /v1/messaging/sends/{id}/history`: oldest first. */
export const HISTORY_LIST: ListDefinition = {
  resource: 'messaging.send-history',
  filters: {
    state: { type: 'enum', column: 'state', values: SEND_STATES },
    occurred_at: { type: 'time', column: 'occurred_at' },
  },
  sorts: { occurred_at: { type: 'time', column: 'occurred_at' } },
  defaultSort: 'occurred_at',
  tieBreaker: { field: 'id', column: 'id', type: 'integer' },
};
