import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsObject, ValidateNested } from 'class-validator';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import { IsUUID } from '@customer-platform/http';

/** What can hold a permission (identity.md §5). */
const EXPLAINED_PRINCIPALS = ['user', 'api_key', 'oauth_client'] as const;

/** A kind of principal that can be asked about. */
export type ExplainedPrincipal = (typeof EXPLAINED_PRINCIPALS)[number];

/** Why a principal may not use a permission. */
const MISSING_BECAUSE = [
  'deleted',
  'not_active',
  'revoked',
  'expired',
  'not_a_member',
  'no_role',
  'role_deleted',
  'not_in_roles',
] as const;

/** A reason why a principal lacks a permission. */
export type MissingBecause = (typeof MISSING_BECAUSE)[number];

/** Of whom it is asked. */
class PrincipalDto {
  @ApiProperty({ enum: EXPLAINED_PRINCIPALS, example: 'user' })
  @IsIn(EXPLAINED_PRINCIPALS)
  type: ExplainedPrincipal;

  @ApiProperty({ format: 'uuid' })
  @IsUUID()
  id: string;
}

/** What `POST /v1/identity/permissions/explain` takes. */
export class ExplainPermissionDto {
  @ApiProperty({ type: PrincipalDto })
  @IsObject()
  @ValidateNested()
  @Type(() => PrincipalDto)
  principal: PrincipalDto;

  @ApiProperty({ type: 'string', example: 'core.contacts.read' })
  @IsIn(PERMISSIONS)
  permission: Permission;
}

/** A role that gives the permission. */
export class GivingRoleDto {
  @ApiProperty({ format: 'uuid' }) role_id: string;
  @ApiProperty({ example: 'Support', description: 'Its name.' }) role: string;
  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'By which a user has the role; machines have theirs without one.',
  })
  assignment_id: string | null;
}

/** Whether a principal may use a permission, and why. */
export class PermissionExplanationDto {
  @ApiProperty({ description: 'Whether a call that needs the permission is let through now.' })
  allowed: boolean;

  @ApiProperty({
    type: 'string',
    nullable: true,
    enum: ['mfa_required', 'organization_suspended'],
    description: 'What keeps the principal from using what it holds.',
  })
  restriction: 'mfa_required' | 'organization_suspended' | null;

  @ApiProperty({ type: [GivingRoleDto], description: 'All roles that give it.' })
  through: GivingRoleDto[];

  @ApiProperty({
    type: 'string',
    nullable: true,
    enum: MISSING_BECAUSE,
    description: 'Null for a permission that the principal holds.',
  })
  missing_because: MissingBecause | null;
}
