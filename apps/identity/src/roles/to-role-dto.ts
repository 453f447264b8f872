import type { RoleDto } from './role.dto.js';
import type { Role } from './role.entity.js';

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
