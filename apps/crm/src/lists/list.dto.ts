import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, MayBeNull, PatchOf, SameAs, type ListDefinition } from '@customer-platform/http';
import { IsString, MaxLength, MinLength } from 'class-validator';
import type { List } from './list.entity.js';
import { RANGES } from '../range-ops.js';

/** What `POST /v1/crm/lists` takes. */
export class CreateListDto {
  @ApiProperty({
    description: 'Unique among active lists, ignoring case.',
    example: 'Invited to the opening',
  })
  @IsString()
  @MinLength(1)
  @MaxLength(100)
  name: string;

  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(1_000)
  description?: string | null;
}

/** What `PATCH /v1/crm/lists/{id}` takes: JSON merge. */
export class UpdateListDto extends PatchOf(CreateListDto) {}

/** A list as it is answered. */
export class ListDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @SameAs(CreateListDto) name: string;
  @SameAs(CreateListDto) description: string | null;
  @ApiProperty({ type: 'integer', minimum: 0 }) member_count: number;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** `GET /v1/crm/lists` (crm.md §2). */
export const LISTS_LIST: ListDefinition = {
  resource: 'crm.lists',
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'prefix'] },
    contact_id: {
      type: 'uuid',
      // No column of the list: the service looks among the members.
      column: '',
      ops: ['eq'],
      description: 'Lists that hold this contact. A merged contact’s id means its survivor’s.',
    },
    created_at: { type: 'time', column: 'created_at', ops: RANGES },
    updated_at: { type: 'time', column: 'updated_at', ops: RANGES },
  },
  sorts: {
    name: { type: 'string', column: 'name', byLanguage: true },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** `GET /v1/crm/lists/{id}/members`. */
export const LIST_MEMBERS_LIST: ListDefinition = {
  resource: 'crm.lists.members',
  filters: {
    contact_id: {
      type: 'uuid',
      column: 'contact_id',
      ops: ['eq', 'in'],
      description: 'A merged contact’s id means its survivor’s.',
    },
    added_at: { type: 'time', column: 'added_at', ops: RANGES },
  },
  sorts: { added_at: { type: 'time', column: 'added_at' } },
  defaultSort: '-added_at',
  tieBreaker: { field: 'contact_id', column: 'contact_id', type: 'uuid' },
};

/** A list as the API answers it. */
export function toListDto(list: List): ListDto {
  return {
    id: list.id,
    name: list.name,
    description: list.description,
    member_count: list.memberCount,
    created_at: list.createdAt.toISOString(),
    updated_at: list.updatedAt.toISOString(),
    deleted_at: list.deletedAt?.toISOString() ?? null,
  };
}
