import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsObject, IsString, Length } from 'class-validator';
import { IsUUID, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { STATES, type ConsentStatus } from '../../vocabulary/consents/consent.js';
import { ContactDto } from '../contacts/contact.dto.js';

/** What is merged: `survivor_id` with `merged_id`, or with `undo_merge_id` what is parted again. */
export class MergeContactsDto {
  @ApiProperty({ description: 'The contact that stays.' })
  @MayBeAbsent()
  @IsUUID()
  survivor_id?: string;

  @ApiProperty({ description: 'The contact that goes up in it.' })
  @MayBeAbsent()
  @IsUUID()
  merged_id?: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string', enum: ['survivor', 'merged'] },
    example: { email: 'merged', 'attributes.plan': 'merged' },
    description:
      'Whose value of a field stays. Without it the survivor’s does, and where that has none, the other’s.',
  })
  @MayBeAbsent()
  @IsObject()
  keep?: Record<string, unknown>;

  @ApiProperty({ description: 'A merge to undo, instead of contacts to merge.' })
  @MayBeAbsent()
  @IsUUID()
  undo_merge_id?: string;

  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @Length(1, 500)
  reason?: string | null;

  @ApiProperty({ default: false, description: 'Shows what it would come to, and writes nothing.' })
  @MayBeAbsent()
  @IsBoolean()
  dry_run?: boolean;
}

const anyValue = (description: string) => ApiProperty({ nullable: true, description });

/** A field in which the two differ. */
class ComparedFieldDto {
  @ApiProperty({ example: 'attributes.plan' }) field: string;
  @anyValue('The survivor’s value; a national id masked.') survivor: unknown;
  @anyValue('The other’s value.') merged: unknown;
  @ApiProperty({ enum: ['survivor', 'merged'] }) kept: 'survivor' | 'merged';
}

/** A consent of which something was said for either. */
class ComparedConsentDto {
  @ApiProperty() purpose: string;
  @ApiProperty({ type: String, nullable: true, description: 'Null: all channels.' }) channel: string | null;
  @ApiProperty({ enum: STATES, nullable: true }) survivor: ConsentStatus | null;
  @ApiProperty({ enum: STATES, nullable: true }) merged: ConsentStatus | null;
  @ApiProperty({ enum: STATES, description: 'The stricter of the two.' }) result: ConsentStatus;
}

/** What goes with the merged contact. */
class MovedCountsDto {
  @ApiProperty({ type: 'integer' }) identities: number;
  @ApiProperty({ type: 'integer' }) events: number;
  @ApiProperty({ type: 'integer' }) consents: number;
}

/** What stands in the way of a merge. */
class MergeBlockerDto {
  @ApiProperty({
    description: '`national_id_conflict`, `limit_reached`, `merge_limit_reached` or `erasure_open`.',
    example: 'national_id_conflict',
  })
  code: string;
  @ApiProperty({ type: String, nullable: true, example: 'national_id' }) field: string | null;
}

/** A merge, done, undone or tried. */
export class MergeDto {
  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'Null in a dry run of a merge.' })
  merge_id: string | null;
  @ApiProperty() dry_run: boolean;
  @ApiProperty({ enum: ['merged', 'undone'] }) status: 'merged' | 'undone';
  @ApiProperty({ format: 'uuid' }) survivor_id: string;
  @ApiProperty({ format: 'uuid' }) merged_id: string;
  @ApiProperty({ type: ContactDto, description: 'The survivor as it is after it.' }) contact: ContactDto;
  @ApiProperty({ type: [ComparedFieldDto] }) fields: readonly ComparedFieldDto[];
  @ApiProperty({ type: [ComparedConsentDto] }) consents: readonly ComparedConsentDto[];
  @ApiProperty({ type: MovedCountsDto }) moved: MovedCountsDto;
  @ApiProperty({ type: [MergeBlockerDto] }) blockers: readonly MergeBlockerDto[];
}
