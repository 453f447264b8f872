import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, MayBeNull, PatchOf } from '@customer-platform/http';
import { IsObject, IsString, Length, MaxLength } from 'class-validator';
import { CAUSES, type Cause } from './following/segment-follower.js';
import { RULE_SCHEMA } from './rule.schema.js';

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
