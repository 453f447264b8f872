import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, MayBeNull, PatchOf, type ListDefinition } from '@customer-platform/http';
import { IsObject, IsString, Length, MaxLength } from 'class-validator';
import { CAUSES, type Cause } from '../following/segment-follower.js';
import { RULE_SCHEMA } from './rule.schema.js';
import type { Segment } from './segment.entity.js';

const EXAMPLE = {
  all: [
    { attribute: 'attributes.plan', op: 'eq', value: 'pro' },
    { event: 'invoice_paid', count: { op: 'gte', value: 3 }, within: 'P30D' },
  ],
};

/** What `POST /v1/core/segments` takes. */
export class CreateSegmentDto {
  @ApiProperty({ example: 'Regular payers' })
  @IsString()
  @Length(1, 120)
  name: string;

  @ApiProperty({ default: null })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(1_000)
  description?: string | null;

  @ApiProperty({ ...RULE_SCHEMA, example: EXAMPLE })
  @IsObject()
  rule: object;
}

/** What `PATCH /v1/core/segments/{id}` takes: JSON merge; a rule replaces the whole rule. */
export class UpdateSegmentDto extends PatchOf(CreateSegmentDto) {}

/** A segment as it is answered. */
export class SegmentDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty() name: string;
  @ApiProperty({ nullable: true, type: 'string' }) description: string | null;
  @ApiProperty(RULE_SCHEMA) rule: object;
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Grows with every change of the rule.' })
  rule_version: number;
  @ApiProperty({
    enum: ['building', 'ready'],
    description: 'Building: a new rule is being applied to all contacts.',
  })
  state: 'building' | 'ready';
  @ApiProperty({ type: 'integer', minimum: 0 }) member_count: number;
  @ApiProperty({
    nullable: true,
    type: 'string',
    format: 'date-time',
    description: 'When it was evaluated last.',
  })
  evaluated_at: string | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** A contact that is, or was, in a segment. */
export class SegmentMemberDto {
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @ApiProperty({ nullable: true, type: 'string' }) external_id: string | null;
  @ApiProperty({ format: 'date-time' }) entered_at: string;
  @ApiProperty({ enum: CAUSES }) cause: Cause;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) left_at: string | null;
  @ApiProperty({ nullable: true, enum: CAUSES }) left_cause: Cause | null;
}

/** A segment that a contact is, or was, in. */
export class ContactSegmentDto {
  @ApiProperty({ format: 'uuid' }) segment_id: string;
  @ApiProperty() name: string;
  @ApiProperty({ format: 'date-time' }) entered_at: string;
  @ApiProperty({ enum: CAUSES }) cause: Cause;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) left_at: string | null;
  @ApiProperty({ nullable: true, enum: CAUSES }) left_cause: Cause | null;
}

/** `GET /v1/core/segments` (core.md §13). */
export const SEGMENT_LIST: ListDefinition = {
  resource: 'core.segments',
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'is_null', 'prefix'] },
    state: { type: 'enum', column: 'state', values: ['building', 'ready'] },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name', byLanguage: true },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

const STATUS: NonNullable<ListDefinition['extraParameters']>[string] = {
  type: 'enum',
  values: ['current', 'left'],
  description: '`current` (default): stays that last. `left`: those that have ended.',
};

/** `GET /v1/core/contacts/{id}/segments` (core.md §13). */
export const CONTACT_SEGMENT_LIST: ListDefinition = {
  resource: 'core.contacts.segments',
  filters: {
    segment_id: { type: 'uuid', column: 'segment_id', ops: ['eq', 'ne', 'in'] },
    entered_at: { type: 'time', column: 'entered_at' },
  },
  sorts: { entered_at: { type: 'time', column: 'entered_at' } },
  defaultSort: '-entered_at',
  extraParameters: { status: STATUS },
};

/** `GET /v1/core/segments/{id}/members` (core.md §13). */
export const MEMBER_LIST: ListDefinition = {
  resource: 'core.segments.members',
  filters: {
    contact_id: { type: 'uuid', column: 'contact_id', ops: ['eq', 'ne', 'in'] },
    entered_at: { type: 'time', column: 'entered_at' },
  },
  sorts: { entered_at: { type: 'time', column: 'entered_at' } },
  defaultSort: '-entered_at',
  extraParameters: { status: STATUS },
};

/** A segment as the API answers it. */
export function toSegmentDto(segment: Segment): SegmentDto {
  return {
    id: segment.id,
    name: segment.name,
    description: segment.description,
    rule: segment.rule,
    rule_version: segment.ruleVersion,
    state: segment.state,
    member_count: segment.memberCount,
    evaluated_at: segment.evaluatedAt?.toISOString() ?? null,
    created_at: segment.createdAt.toISOString(),
    updated_at: segment.updatedAt.toISOString(),
    deleted_at: segment.deletedAt?.toISOString() ?? null,
  };
}
