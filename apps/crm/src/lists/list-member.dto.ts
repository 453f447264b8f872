import { ApiProperty } from '@nestjs/swagger';
import { IsUUID, MayBeAbsent } from '@customer-platform/http';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray } from 'class-validator';
import { AuthorDto } from '../authors/author.dto.js';

/** Contacts that one call adds or removes. */
const MOST_AT_ONCE = 1_000;
const MOST_IN_QUERY = 100;

/** Contacts, as they are added and removed. */
export class ListMembersDto {
  @ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    description: 'A merged contact’s id is taken as its survivor’s.',
    example: ['019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f'],
  })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_AT_ONCE)
  contact_ids: unknown[];
}

/** Contacts in the query of a removal: the name repeated. */
export class ListMembersQuery {
  @ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    description: 'Given once for each contact.',
  })
  @Transform(({ value }: { value: unknown }) => (value === undefined ? undefined : [value].flat()))
  @MayBeAbsent()
  @ArrayMaxSize(MOST_IN_QUERY)
  @IsUUID({ each: true })
  contact_id?: string[];
}

/** An id that was not added, and why. */
class RejectedMemberDto {
  @ApiProperty({ type: 'integer', description: 'Its place in `contact_ids`.' }) index: number;
  @ApiProperty({ description: 'As it was sent.' }) contact_id: string;
  @ApiProperty({ enum: ['reference_not_found', 'reference_deleted'] }) code: string;
}

/** What came of adding. */
export class AddedMembersDto {
  @ApiProperty({ type: 'integer' }) added: number;
  @ApiProperty({ type: 'integer', description: 'Ids of contacts that were there already.' })
  unchanged: number;
  @ApiProperty({ type: [RejectedMemberDto] }) rejected: RejectedMemberDto[];
}

/** A contact on a list. */
export class ListMemberDto {
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @ApiProperty({ format: 'date-time' }) added_at: string;
  @ApiProperty({ type: AuthorDto }) added_by: AuthorDto;
}
