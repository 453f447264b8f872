import { ApiProperty, OmitType } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsString, Length, MaxLength } from 'class-validator';
import {
  IsImmutable,
  IsWithoutRepeats,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  SameAs,
  type ListDefinition,
} from '@customer-platform/http';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import type { RoleKind } from './built-in-roles.js';
import type { Role } from './role.entity.js';

const KINDS: readonly RoleKind[] = ['human', 'machine'];
const HELD = {
  type: 'string',
  isArray: true,
  example: ['core.contacts.read', 'crm.notes.create'] as string[],
  description: 'Names of the permission registry.',
} as const;

/** What `POST /v1/identity/roles` takes. */
export class CreateRoleDto {
  @ApiProperty({ example: 'Support' })
  @IsString()
  @Length(1, 80)
  name: string;

  @ApiProperty({ example: 'Reads contacts and writes notes.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(500)
  description?: string | null;

  @ApiProperty({ description: 'Whether members or machines hold it.' })
  @IsIn(KINDS)
  kind: RoleKind;

  @ApiProperty({ ...HELD, default: [] })
  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(PERMISSIONS.length)
  @IsWithoutRepeats()
  @IsIn(PERMISSIONS, { each: true })
  permissions?: Permission[];

  @IsImmutable()
  built_in?: unknown;

  @IsImmutable()
  key?: unknown;
}

/** What `PATCH /v1/identity/roles/{id}` takes: JSON merge. */
export class UpdateRoleDto extends PatchOf(OmitType(CreateRoleDto, ['permissions']), {
  immutable: ['kind'],
}) {}

/** What `PUT /v1/identity/roles/{id}/permissions` takes: the whole set. */
export class ReplacePermissionsDto {
  @ApiProperty(HELD)
  @IsArray()
  @ArrayMaxSize(PERMISSIONS.length)
  @IsWithoutRepeats()
  @IsIn(PERMISSIONS, { each: true })
  permissions: Permission[];
}

/** A role as it is answered. */
export class RoleDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @SameAs(CreateRoleDto) name: string;
  @SameAs(CreateRoleDto) description: string | null;
  @ApiProperty({ enum: KINDS }) kind: RoleKind;
  @ApiProperty(HELD) permissions: string[];
  @ApiProperty({ description: 'A built-in role is every organization’s, and nobody changes it.' })
  built_in: boolean;
  @ApiProperty({ type: 'string', nullable: true, description: 'Names a built-in role.', example: 'owner' })
  key: string | null;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** `GET /v1/identity/roles` (identity.md §9). */
export const ROLES_LIST: ListDefinition = {
  resource: 'identity.roles',
  filters: {
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'ne', 'in', 'prefix'] },
    kind: { type: 'enum', column: 'kind', values: ['human', 'machine'] },
    built_in: { type: 'boolean', column: '(key IS NOT NULL)', ops: ['eq'] },
    created_at: { type: 'time', column: 'created_at' },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    name: { type: 'string', column: 'name', byLanguage: true },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** A role with what it permits. */
export interface RoleWithPermissions {
  readonly role: Role;
  readonly permissions: string[];
}

export function toRoleDto({ role, permissions }: RoleWithPermissions): RoleDto {
  return {
    id: role.id,
    name: role.name,
    description: role.description,
    kind: role.kind,
    permissions,
    built_in: role.key !== null,
    key: role.key,
    created_at: role.createdAt.toISOString(),
    updated_at: role.updatedAt.toISOString(),
    deleted_at: role.deletedAt?.toISOString() ?? null,
  };
}
