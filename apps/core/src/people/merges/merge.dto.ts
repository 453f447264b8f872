import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsObject, IsString, Length } from 'class-validator';
import { IsUUID, MayBeAbsent, MayBeNull, type ListDefinition } from '@customer-platform/http';
import { STATES, type ConsentStatus } from '../../vocabulary/consents/consent.js';
import { ContactDto } from '../contacts/contact.dto.js';

/** States of a merge. */
const MERGE_STATES = ['merged', 'undone'] as const;

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
  @ApiProperty({ enum: MERGE_STATES }) status: (typeof MERGE_STATES)[number];
  @ApiProperty({ format: 'uuid' }) survivor_id: string;
  @ApiProperty({ format: 'uuid' }) merged_id: string;
  @ApiProperty({ type: ContactDto, description: 'The survivor as it is after it.' }) contact: ContactDto;
  @ApiProperty({ type: [ComparedFieldDto] }) fields: readonly ComparedFieldDto[];
  @ApiProperty({ type: [ComparedConsentDto] }) consents: readonly ComparedConsentDto[];
  @ApiProperty({ type: MovedCountsDto }) moved: MovedCountsDto;
  @ApiProperty({ type: [MergeBlockerDto] }) blockers: readonly MergeBlockerDto[];
}

/** A field that differed, and whose value stayed. */
class KeptFieldDto {
  @ApiProperty({ example: 'attributes.plan' }) field: string;
  @ApiProperty({ enum: ['survivor', 'merged'] }) kept: 'survivor' | 'merged';
}

const nullableText = () => ApiProperty({ type: String, nullable: true });

/** Identifiers of the contact that was merged; no other route tells them while the merge stands. */
class MergedContactDto {
  @nullableText() first_name: string | null;
  @nullableText() last_name: string | null;
  @nullableText() email: string | null;
  @nullableText() phone: string | null;
  @nullableText() external_id: string | null;
}

/** A merge that a contact was part of. */
export class ContactMergeDto {
  @ApiProperty({ format: 'uuid', description: 'What `undo_merge_id` takes.' }) id: string;
  @ApiProperty({ enum: MERGE_STATES }) status: (typeof MERGE_STATES)[number];
  @ApiProperty({ format: 'uuid' }) survivor_id: string;
  @ApiProperty({ format: 'uuid' }) merged_id: string;
  @ApiProperty({
    type: MergedContactDto,
    nullable: true,
    description: 'Null once it is undone: the contact is read by its own id again.',
  })
  merged_contact: MergedContactDto | null;
  @nullableText() reason: string | null;
  @ApiProperty({ type: [KeptFieldDto], description: 'The fields in which the two differed, by name.' })
  fields: readonly KeptFieldDto[];
  @ApiProperty({ type: MovedCountsDto }) moved: MovedCountsDto;
  @ApiProperty({
    description:
      'Whether it can be undone now: it stands, neither was erased, and the survivor has merged with nobody since.',
  })
  undoable: boolean;
  @ApiProperty({ format: 'date-time' }) merged_at: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) undone_at: string | null;
}

/** `GET /v1/core/contacts/{id}/merges` (core.md §13). */
export const CONTACT_MERGE_LIST: ListDefinition = {
  resource: 'core.contacts.merges',
  filters: {
    status: { type: 'enum', column: 'status', values: MERGE_STATES },
    merged_at: { type: 'time', column: 'merged_at' },
  },
  sorts: { merged_at: { type: 'time', column: 'merged_at' } },
  defaultSort: '-merged_at',
};
