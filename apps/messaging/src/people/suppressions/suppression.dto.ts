import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, IsUUID, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsIn, IsObject, IsString, Length, MaxLength } from 'class-validator';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import {
  SUPPRESSION_REASONS,
  SUPPRESSION_SCOPES,
  type ListedSuppression,
  type SuppressionReason,
  type SuppressionRow,
  type SuppressionScope,
} from '../../vocabulary/suppressions/suppression.js';

/** Body of `POST /v1/messaging/suppressions`. */
export class CreateSuppressionDto {
  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({
    description: 'An address of the channel; with scope `domain` a mail domain.',
    example: 'ana@example.com',
  })
  @IsString()
  @Length(1, 4_096)
  address: string;

  @ApiProperty({ default: 'address' })
  @MayBeAbsent()
  @IsIn(SUPPRESSION_SCOPES)
  scope?: SuppressionScope;

  @ApiProperty({ default: 'manual' })
  @MayBeAbsent()
  @IsIn(SUPPRESSION_REASONS)
  reason?: SuppressionReason;

  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(500)
  note?: string | null;
}

/** Query, or body, of `DELETE /v1/messaging/suppressions`. */
export class SuppressionKeyDto {
  @MayBeAbsent()
  @IsIn(CHANNELS)
  channel?: Channel;

  @MayBeAbsent()
  @IsString()
  @Length(1, 4_096)
  address?: string;
}

/** A suppression as it is answered. */
export class SuppressionDto {
  @IsUUID()
  id: string;

  @IsIn(CHANNELS)
  channel: Channel;

  @ApiProperty({
    description: 'Null when the person was erased; it still blocks.',
    example: 'ana@example.com',
  })
  @MayBeNull()
  @IsString()
  address: string | null;

  @IsIn(SUPPRESSION_SCOPES)
  scope: SuppressionScope;

  @IsIn(SUPPRESSION_REASONS)
  reason: SuppressionReason;

  @MayBeNull()
  @IsString()
  note: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { type: 'api_key', id: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f' },
  })
  @IsObject()
  created_by: { type: string; id: string };

  @IsInstant()
  created_at: string;

  @IsInstant()
  updated_at: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Who lifted it; null while it stands.',
  })
  @MayBeNull()
  @IsObject()
  lifted_by: { type: string; id: string } | null;

  @ApiProperty({ description: 'Null while it stands.' })
  @MayBeNull()
  @IsInstant()
  lifted_at: string | null;
}

const STANDING = { lifted_by_type: null, lifted_by_id: null, lifted_at: null };

/** A suppression that stands, as it is answered. */
export function toSuppressionDto(row: SuppressionRow): SuppressionDto {
  return toListedDto({ ...row, ...STANDING });
}

/** A suppression of a list, as it is answered. */
export function toListedDto(row: ListedSuppression): SuppressionDto {
  const { lifted_by_type: type, lifted_by_id: id } = row;
  return {
    id: row.id,
    channel: row.channel,
    address: row.address,
    scope: row.scope,
    reason: row.reason,
    note: row.note,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    lifted_by: type === null || id === null ? null : { type, id },
    lifted_at: row.lifted_at?.toISOString() ?? null,
  };
}
