import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInstant, IsLocaleTag, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsIn, IsInt, IsObject, IsString, IsUUID, Length } from 'class-validator';
import { CHANNELS, type Channel } from '../addresses/channel.js';
import { SEND_SOURCES, type Category } from './send.js';
import { SEND_STATES, type SendState } from './send-state.js';

const CATEGORIES = ['transactional', 'marketing'] as const;

/** Body of `POST /v1/messaging/sends`. */
export class CreateSendDto {
  @ApiProperty({ enum: CHANNELS })
  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'One of `contact_id`, `external_id`, `address`.',
    example: { address: 'ana@example.com' },
  })
  @IsObject()
  recipient: object;

  @ApiPropertyOptional({ format: 'uuid', description: 'Or `content`.' })
  @MayBeAbsent()
  @IsUUID()
  template_id?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Parts as in a template of the channel, instead of `template_id`.',
    example: { subject: 'Your order', text: 'It is on its way.' },
  })
  @MayBeAbsent()
  @IsObject()
  content?: Record<string, unknown>;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, description: 'At most 64 KiB.' })
  @MayBeAbsent()
  @IsObject()
  data?: Record<string, unknown>;

  @ApiPropertyOptional({ example: 'es-CL' })
  @MayBeAbsent()
  @IsLocaleTag()
  locale?: string;

  @ApiPropertyOptional({ enum: CATEGORIES, default: 'transactional' })
  @MayBeAbsent()
  @IsIn(CATEGORIES)
  category?: Category;

  @ApiPropertyOptional({ description: 'Key of a topic in channel-settings.' })
  @MayBeAbsent()
  @IsString()
  @Length(1, 40)
  topic?: string;

  @ApiPropertyOptional({ description: '`Name <address>` or the address, instead of the channel’s.' })
  @MayBeAbsent()
  @IsString()
  @Length(1, 400)
  from?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'At most 30 days ahead.' })
  @MayBeAbsent()
  @IsInstant()
  not_before?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Not sent after it.' })
  @MayBeAbsent()
  @IsInstant()
  expires_at?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Comes back in events; at most 4 KiB.',
  })
  @MayBeAbsent()
  @IsObject()
  metadata?: Record<string, unknown>;
}

/** Answer of `POST /v1/messaging/sends`. */
export class AcceptedSendDto {
  @ApiProperty({ format: 'uuid' })
  @IsUUID()
  send_id: string;

  @ApiProperty({ enum: SEND_STATES })
  @IsIn(SEND_STATES)
  state: SendState;
}

/** A send as it is answered. */
export class SendDto {
  @ApiProperty({ format: 'uuid' })
  @IsUUID()
  id: string;

  @ApiProperty({ enum: CHANNELS })
  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({ enum: SEND_STATES })
  @IsIn(SEND_STATES)
  state: SendState;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  reason: string | null;

  @ApiProperty({ enum: CATEGORIES })
  @IsIn(CATEGORIES)
  category: Category;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  topic: string | null;

  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  @MayBeNull()
  @IsUUID()
  contact_id: string | null;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  address: string | null;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  subject: string | null;

  @ApiProperty({
    enum: SEND_SOURCES,
    description:
      '`identity`: the platform’s own mail of an invitation or a new password; nothing of its content is kept.',
  })
  @IsIn(SEND_SOURCES)
  source: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The rule, campaign or invitation.',
  })
  @MayBeNull()
  @IsUUID()
  source_id: string | null;

  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  @MayBeNull()
  @IsUUID()
  run_id: string | null;

  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  @MayBeNull()
  @IsUUID()
  template_id: string | null;

  @ApiProperty({ type: Number, nullable: true })
  @MayBeNull()
  @IsInt()
  template_version: number | null;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  locale: string | null;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  provider: string | null;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  provider_message_id: string | null;

  @ApiProperty()
  @IsInt()
  attempts: number;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  @MayBeNull()
  @IsObject()
  metadata: Record<string, unknown> | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it is taken up again.',
  })
  @MayBeNull()
  @IsInstant()
  release_at: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  @MayBeNull()
  @IsInstant()
  expires_at: string | null;

  @ApiProperty({ format: 'date-time', description: 'Where it stands in the timeline: when it was accepted.' })
  @IsInstant()
  occurred_at: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  @MayBeNull()
  @IsInstant()
  sent_at: string | null;

  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  @MayBeNull()
  @IsUUID()
  correlation_id: string | null;

  @ApiProperty({ format: 'date-time' })
  @IsInstant()
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  @IsInstant()
  updated_at: string;
}

/** One step of a send. */
export class SendStepDto {
  @ApiProperty({ enum: SEND_STATES })
  @IsIn(SEND_STATES)
  state: SendState;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  reason: string | null;

  @ApiProperty()
  @IsInt()
  attempt: number;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  provider_event_id: string | null;

  @ApiProperty({ type: Number, nullable: true })
  @MayBeNull()
  @IsInt()
  smtp_code: number | null;

  @ApiProperty({ format: 'date-time' })
  @IsInstant()
  occurred_at: string;
}
