import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { RoleKind } from './built-in-roles.js';

interface RoleRow {
  kind: RoleKind;
  deleted: boolean;
  permissions: string[];
}

/** What the roles of an organization permit, built-in ones as the build says. */
const HELD = `
CASE WHEN r.key IS NOT NULL THEN ARRAY(
       SELECT permission FROM built_in_permissions b
        WHERE b.key = r.key AND b.kind = r.kind ORDER BY permission)
     ELSE ARRAY(
       SELECT permission FROM role_permissions p
        WHERE p.organization_id = r.organization_id AND p.role_id = r.id AND p.removed_at IS NULL
        ORDER BY permission)
END`;

/** The share lock holds the role's permissions still until that which they are given to is committed. */
const REFERENCED = `
SELECT kind, deleted_at IS NOT NULL AS deleted, ${HELD} AS permissions
  FROM roles r WHERE organization_id = $1 AND id = $2 FOR SHARE OF r`;

const OF_ROLES = `
SELECT id, ${HELD} AS permissions FROM roles r WHERE organization_id = $1 AND id = ANY ($2::uuid[])`;

const ADD = `
INSERT INTO role_permissions (organization_id, role_id, permission, granted_at)
SELECT $1, $2, permission, $4 FROM unnest($3::text[]) AS permission`;

const REMOVE = `
UPDATE role_permissions SET removed_at = greatest($4::timestamptz, granted_at)
 WHERE organization_id = $1 AND role_id = $2 AND permission = ANY ($3::text[]) AND removed_at IS NULL`;

/** SQL: what the membership `m` permits by all roles assigned, in order, as JSON. */
export const permissionsOf = (m: string): string => `to_json(ARRAY(
         SELECT b.permission FROM role_assignments a
           JOIN roles r ON r.organization_id = a.organization_id AND r.id = a.role_id AND r.deleted_at IS NULL
           JOIN built_in_permissions b ON b.key = r.key AND b.kind = r.kind
          WHERE a.organization_id = ${m}.organization_id AND a.membership_id = ${m}.id
          UNION
         SELECT p.permission FROM role_assignments a
           JOIN roles r ON r.organization_id = a.organization_id AND r.id = a.role_id AND r.deleted_at IS NULL
           JOIN role_permissions p ON p.organization_id = r.organization_id AND p.role_id = r.id
            AND p.removed_at IS NULL
          WHERE a.organization_id = ${m}.organization_id AND a.membership_id = ${m}.id AND r.key IS NULL
          ORDER BY permission))`;

const HELD_BY = `
SELECT ${permissionsOf('m')} AS permissions FROM memberships m WHERE m.organization_id = $1 AND m.user_id = $2`;

/** A key by which somebody may still come, at the time of the transaction. */
export const KEY_WORKS = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';

/** Keys say which they were rotated from. */
const FORGET_ROTATIONS = `
UPDATE api_keys SET rotated_from_id = NULL
 WHERE organization_id = $1 AND role_id = $2 AND rotated_from_id IS NOT NULL`;
const FORGET_ENDED_KEYS = `DELETE FROM api_keys WHERE organization_id = $1 AND role_id = $2 AND NOT (${KEY_WORKS})`;

/** A role in a body: which, of what kind it must be, and where it stands there. */
interface RoleReference {
  readonly id: string;
  readonly kind: RoleKind;
  /** Absent where the body does not name the role. */
  readonly pointer?: string;
}

/** What roles permit: read for those who refer to a role, and written for the roles that are an organization's own. */
@Injectable()
export class RoleGrants {
  constructor(private readonly clock: Clock) {}

  /**
   * The permissions of a role that something is about to be given.
   * @throws Problem `reference_not_found`, `reference_deleted` (422), `role_kind_mismatch` (409)
   */
  async referenced(tx: Transaction, { id, kind, pointer }: RoleReference): Promise<string[]> {
    const [role] = await tx.query<RoleRow>(REFERENCED, [tx.organizationId, id]);
    if (!role) throw badReference('reference_not_found', 'The organization has no such role.', pointer);
    if (role.deleted) throw badReference('reference_deleted', 'The role is deleted.', pointer);
    if (role.kind !== kind) {
      const detail =
        kind === 'machine'
          ? 'A machine takes a machine role; this one is for people.'
          : 'A member takes a role for people; this one is for machines.';
      throw new Problem('role_kind_mismatch', { detail });
    }
    return role.permissions;
  }

  /** The permissions of each of these roles. */
  async of(tx: Transaction, roleIds: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
    const rows = await tx.query<{ id: string; permissions: string[] }>(OF_ROLES, [
      tx.organizationId,
      roleIds,
    ]);
    return new Map(rows.map(({ id, permissions }) => [id, permissions]));
  }

  /** What a user may do in the organization by all roles assigned. */
  async heldBy(tx: Transaction, userId: string): Promise<string[]> {
    const [member] = await tx.query<{ permissions: string[] }>(HELD_BY, [tx.organizationId, userId]);
    return member?.permissions ?? [];
  }

  /** Gives a role, whose lock `tx` holds, permissions that it lacks. */
  async add(tx: Transaction, roleId: string, permissions: readonly string[]): Promise<void> {
    await tx.query(ADD, [tx.organizationId, roleId, permissions, this.clock.now()]);
  }

  /** Takes permissions from a role whose lock `tx` holds; the rows tell until when it held them. */
  async remove(tx: Transaction, roleId: string, permissions: readonly string[]): Promise<void> {
    await tx.query(REMOVE, [tx.organizationId, roleId, permissions, this.clock.now()]);
  }

  /** Forgets the keys that work no more of a role that is purged; where one does, the purge takes all of this back. */
  async forgetEndedKeys(tx: Transaction, roleId: string): Promise<void> {
    const values = [tx.organizationId, roleId];
    await tx.query(FORGET_ROTATIONS, values);
    await tx.query(FORGET_ENDED_KEYS, values);
  }

  /** Forgets everything about a role that is purged. */
  async forget(tx: Transaction, roleId: string): Promise<void> {
    const values = [tx.organizationId, roleId];
    await tx.query('DELETE FROM role_permissions WHERE organization_id = $1 AND role_id = $2', values);
  }
}

function badReference(
  code: 'reference_not_found' | 'reference_deleted',
  detail: string,
  pointer: string | undefined,
): Problem {
  return new Problem(code, {
    detail,
    ...(pointer === undefined ? {} : { errors: [{ pointer, code, detail }] }),
  });
}
