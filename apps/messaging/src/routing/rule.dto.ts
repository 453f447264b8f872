import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInstant, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsBoolean, IsIn, IsInt, IsObject, IsString, IsUUID, Length, Max, Min } from 'class-validator';
import { CHANNELS, type Channel } from '../addresses/channel.js';
import type { Category } from '../sends/send.js';
import { LONGEST_DELAY_SECONDS, ROUTABLE_EVENTS, type RoutableEvent } from './rule.js';

const CATEGORIES = ['transactional', 'marketing'] as const;
const CONDITION = {
  type: 'object',
  nullable: true,
  additionalProperties: true,
  description: '`all` or `any` of `{path, op, value}` on `event` (its data) and `contact`; 20 comparisons.',
  example: { all: [{ path: 'event.properties.amount', op: 'gte', value: 10000 }] },
} as const;
const RECIPIENT = {
  type: 'object',
  additionalProperties: true,
  description: '`{from: contact}`, `{from: event, path}` or `{from: address, value}`.',
  example: { from: 'contact' },
} as const;
const MORE = { min: 0, max: LONGEST_DELAY_SECONDS };

/** Body of `POST /v1/messaging/event-routing`. */
export class CreateRuleDto {
  @ApiProperty({ description: 'Unique among active rules.', example: 'Thank for a purchase' })
  @IsString()
  @Length(1, 120)
  name: string;

  @ApiPropertyOptional({ default: true })
  @MayBeAbsent()
  @IsBoolean()
  enabled?: boolean;

  @ApiProperty({ enum: ROUTABLE_EVENTS })
  @IsIn(ROUTABLE_EVENTS)
  event_type: RoutableEvent;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Required with `core.event.recorded`, and only there.',
    example: 'purchase_completed',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 200)
  event_name?: string | null;

  @ApiPropertyOptional(CONDITION)
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  condition?: object | null;

  @ApiProperty({ enum: CHANNELS })
  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({ format: 'uuid' })
  @IsUUID()
  template_id: string;

  @ApiPropertyOptional(RECIPIENT)
  @MayBeAbsent()
  @IsObject()
  recipient?: object;

  @ApiPropertyOptional({ enum: CATEGORIES, default: 'transactional' })
  @MayBeAbsent()
  @IsIn(CATEGORIES)
  category?: Category;

  @ApiPropertyOptional({ type: String, nullable: true, description: 'Key of a topic in channel-settings.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 40)
  topic?: string | null;

  @ApiPropertyOptional({ default: 0, minimum: MORE.min, maximum: MORE.max })
  @MayBeAbsent()
  @IsInt()
  @Min(MORE.min)
  @Max(MORE.max)
  delay_seconds?: number;
}

/** Body of `PATCH /v1/messaging/event-routing/{id}`: JSON merge. */
export class UpdateRuleDto {
  @ApiPropertyOptional({ example: 'Thank for a purchase' })
  @MayBeAbsent()
  @IsString()
  @Length(1, 120)
  name?: string;

  @ApiPropertyOptional()
  @MayBeAbsent()
  @IsBoolean()
  enabled?: boolean;

  @ApiPropertyOptional({ enum: ROUTABLE_EVENTS })
  @MayBeAbsent()
  @IsIn(ROUTABLE_EVENTS)
  event_type?: RoutableEvent;

  @ApiPropertyOptional({ type: String, nullable: true })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 200)
  event_name?: string | null;

  @ApiPropertyOptional(CONDITION)
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  condition?: object | null;

  @ApiPropertyOptional({ enum: CHANNELS })
  @MayBeAbsent()
  @IsIn(CHANNELS)
  channel?: Channel;

  @ApiPropertyOptional({ format: 'uuid' })
  @MayBeAbsent()
  @IsUUID()
  template_id?: string;

  @ApiPropertyOptional(RECIPIENT)
  @MayBeAbsent()
  @IsObject()
  recipient?: object;

  @ApiPropertyOptional({ enum: CATEGORIES })
  @MayBeAbsent()
  @IsIn(CATEGORIES)
  category?: Category;

  @ApiPropertyOptional({ type: String, nullable: true })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 40)
  topic?: string | null;

  @ApiPropertyOptional({ minimum: MORE.min, maximum: MORE.max })
  @MayBeAbsent()
  @IsInt()
  @Min(MORE.min)
  @Max(MORE.max)
  delay_seconds?: number;
}

/** A rule as it is answered. */
export class RuleDto {
  @ApiProperty({ format: 'uuid' })
  @IsUUID()
  id: string;

  @ApiProperty({ example: 'Thank for a purchase' })
  @IsString()
  name: string;

  @ApiProperty()
  @IsBoolean()
  enabled: boolean;

  @ApiProperty({ enum: ROUTABLE_EVENTS })
  @IsIn(ROUTABLE_EVENTS)
  event_type: RoutableEvent;

  @ApiProperty({ type: String, nullable: true, example: 'purchase_completed' })
  @MayBeNull()
  @IsString()
  event_name: string | null;

  @ApiProperty(CONDITION)
  @MayBeNull()
  @IsObject()
  condition: object | null;

  @ApiProperty({ enum: CHANNELS })
  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({ format: 'uuid' })
  @IsUUID()
  template_id: string;

  @ApiProperty(RECIPIENT)
  @IsObject()
  recipient: object;

  @ApiProperty({ enum: CATEGORIES })
  @IsIn(CATEGORIES)
  category: Category;

  @ApiProperty({ type: String, nullable: true })
  @MayBeNull()
  @IsString()
  topic: string | null;

  @ApiProperty()
  @IsInt()
  delay_seconds: number;

  @ApiProperty({ format: 'date-time' })
  @IsInstant()
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  @IsInstant()
  updated_at: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  @MayBeNull()
  @IsInstant()
  deleted_at: string | null;
}
