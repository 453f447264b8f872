import { ApiProperty } from '@nestjs/swagger';
import { IsUUID, MayBeAbsent, type ListDefinition } from '@customer-platform/http';

/** What `POST /v1/identity/role-assignments` takes. */
export class CreateRoleAssignmentDto {
  @IsUUID()
  membership_id: string;

  @ApiProperty({ description: 'A role for people whose permissions the caller holds.' })
  @IsUUID()
  role_id: string;
}

/** What names a role assignment where the path does not: both. */
export class RoleAssignmentKeyDto {
  @MayBeAbsent()
  @IsUUID()
  membership_id?: string;

  @MayBeAbsent()
  @IsUUID()
  role_id?: string;
}

/** A role assignment as it is answered. */
export class RoleAssignmentDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ format: 'uuid' }) membership_id: string;
  @ApiProperty({ format: 'uuid' }) role_id: string;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
}

/** `GET /v1/identity/role-assignments` (identity.md §9). */
export const ROLE_ASSIGNMENTS_LIST: ListDefinition = {
  resource: 'identity.role_assignments',
  filters: {
    membership_id: { type: 'uuid', column: 'membership_id' },
    role_id: { type: 'uuid', column: 'role_id' },
  },
  sorts: { created_at: { type: 'time', column: 'created_at' } },
  defaultSort: '-created_at',
};
