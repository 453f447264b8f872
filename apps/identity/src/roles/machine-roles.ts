import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';

interface RoleRow {
  kind: 'human' | 'machine';
  deleted: boolean;
  permissions: string[];
}

/** The share lock holds the role's permissions still until the key that they are given to is committed. */
const SELECT = `
SELECT kind, deleted_at IS NOT NULL AS deleted,
       CASE WHEN key IS NOT NULL THEN ARRAY(
              SELECT permission FROM built_in_permissions b WHERE b.key = r.key AND b.kind = r.kind)
            ELSE ARRAY(
              SELECT permission FROM role_permissions p
               WHERE p.organization_id = r.organization_id AND p.role_id = r.id AND p.removed_at IS NULL)
       END AS permissions
  FROM roles r WHERE organization_id = $1 AND id = $2 FOR SHARE OF r`;

/** Machine roles as keys and clients refer to them. */
@Injectable()
export class MachineRoles {
  /**
   * The permissions of a machine role; `pointer` says where in the body it is referenced, if it is.
   * @throws Problem `reference_not_found`, `reference_deleted` (422), `role_kind_mismatch` (409)
   */
  async permissionsOf(tx: Transaction, roleId: string, pointer?: string): Promise<string[]> {
    const [role] = await tx.query<RoleRow>(SELECT, [tx.organizationId, roleId]);
    if (!role) throw badReference('reference_not_found', 'The organization has no such role.', pointer);
    if (role.deleted) throw badReference('reference_deleted', 'The role is deleted.', pointer);
    if (role.kind !== 'machine') {
      throw new Problem('role_kind_mismatch', {
        detail: 'A key takes a machine role; this one is for people.',
      });
    }
    return role.permissions;
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
