import { ApiProperty } from '@nestjs/swagger';
import { IsUUID, MayBeAbsent, type ListDefinition } from '@customer-platform/http';

/** What `POST /v1/identity/memberships` takes. */
export class CreateMembershipDto {
  @ApiProperty({ description: 'A user of one’s own; outsiders are invited.' })
  @IsUUID()
  user_id: string;
}

/** What names a membership where the path does not. */
export class MembershipKeyDto {
  @MayBeAbsent()
  @IsUUID()
  user_id?: string;
}

/** A membership as it is answered. */
export class MembershipDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ format: 'uuid' }) user_id: string;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
}

/** `GET /v1/identity/memberships` (identity.md §9). */
export const MEMBERSHIPS_LIST: ListDefinition = {
  resource: 'identity.memberships',
  filters: { user_id: { type: 'uuid', column: 'user_id' } },
  sorts: { created_at: { type: 'time', column: 'created_at' } },
  defaultSort: '-created_at',
};
