import { ApiProperty } from '@nestjs/swagger';
import {
  IsInstant,
  IsUUID,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  type ListDefinition,
} from '@customer-platform/http';
import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Length,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import { MadeByDto, toMadeByDto } from '../../vocabulary/makers/made-by.dto.js';
import { STANDINGS, type Standing } from '../../background/makers/maker-rights.js';
import type { Category } from '../../vocabulary/sends/send.js';
import { ROUTABLE_EVENTS, type RoutableEvent } from '../../vocabulary/events/routed-event.js';
import { LONGEST_DELAY_SECONDS } from './rule.js';
import type { ShownRule } from './standing-of-rules.js';

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

  @ApiProperty({ default: true })
  @MayBeAbsent()
  @IsBoolean()
  enabled?: boolean;

  @IsIn(ROUTABLE_EVENTS)
  event_type: RoutableEvent;

  @ApiProperty({
    description: 'Required with `core.event.recorded`, and only there.',
    example: 'purchase_completed',
  })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 200)
  event_name?: string | null;

  @ApiProperty(CONDITION)
  @MayBeAbsent()
  @MayBeNull()
  @IsObject()
  condition?: object | null;

  @IsIn(CHANNELS)
  channel: Channel;

  @IsUUID()
  template_id: string;

  @ApiProperty(RECIPIENT)
  @MayBeAbsent()
  @IsObject()
  recipient?: object;

  @ApiProperty({ default: 'transactional' })
  @MayBeAbsent()
  @IsIn(CATEGORIES)
  category?: Category;

  @ApiProperty({ description: 'Key of a topic in channel-settings.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 40)
  topic?: string | null;

  @ApiProperty({ default: 0 })
  @MayBeAbsent()
  @IsInt()
  @Min(MORE.min)
  @Max(MORE.max)
  delay_seconds?: number;
}

/** Body of `PATCH /v1/messaging/event-routing/{id}`: JSON merge. */
export class UpdateRuleDto extends PatchOf(CreateRuleDto) {
  @ApiProperty({
    description:
      'True: the caller answers for the rule from now on, and must be able to read what it carries.',
  })
  @MayBeAbsent()
  @IsBoolean()
  adopt?: boolean;
}

/** A rule as it is answered. */
export class RuleDto {
  @IsUUID()
  id: string;

  @ApiProperty({ example: 'Thank for a purchase' })
  @IsString()
  name: string;

  @IsBoolean()
  enabled: boolean;

  @IsIn(ROUTABLE_EVENTS)
  event_type: RoutableEvent;

  @ApiProperty({ example: 'purchase_completed' })
  @MayBeNull()
  @IsString()
  event_name: string | null;

  @ApiProperty(CONDITION)
  @MayBeNull()
  @IsObject()
  condition: object | null;

  @IsIn(CHANNELS)
  channel: Channel;

  @IsUUID()
  template_id: string;

  @ApiProperty(RECIPIENT)
  @IsObject()
  recipient: object;

  @IsIn(CATEGORIES)
  category: Category;

  @MayBeNull()
  @IsString()
  topic: string | null;

  @IsInt()
  delay_seconds: number;

  @ApiProperty({ type: MadeByDto, description: 'Who last said what it carries, and to whom, or adopted it.' })
  @MayBeNull()
  @ValidateNested()
  @Type(() => MadeByDto)
  maker: MadeByDto | null;

  @ApiProperty({
    description:
      '`not_permitted`: its maker, or who published its text, cannot read any more what it carries, and nothing leaves ' +
      'until somebody who can adopts it. `unowned`: of before makers were noted, and by nobody’s rights. Null while that ' +
      'cannot be told.',
  })
  @MayBeNull()
  @IsIn(STANDINGS)
  standing: Standing | null;

  @IsInstant()
  created_at: string;

  @IsInstant()
  updated_at: string;

  @MayBeNull()
  @IsInstant()
  deleted_at: string | null;
}

/** `GET /v1/messaging/event-routing` (messaging.md §3). */
export const ROUTING_LIST: ListDefinition = {
  resource: 'messaging.event-routing',
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'prefix'] },
    event_type: { type: 'enum', column: 'event_type', values: ROUTABLE_EVENTS },
    event_name: { type: 'string', column: 'event_name' },
    channel: { type: 'enum', column: 'channel', values: CHANNELS },
    enabled: { type: 'boolean', column: 'enabled' },
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

/** A rule as it is answered. */
export function toRuleDto({ row, standing }: ShownRule): RuleDto {
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    event_type: row.eventType,
    event_name: row.eventName,
    condition: row.condition,
    channel: row.channel,
    template_id: row.templateId,
    recipient: row.recipient,
    category: row.category,
    topic: row.topic,
    delay_seconds: row.delaySeconds,
    maker: toMadeByDto(row),
    standing,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}
