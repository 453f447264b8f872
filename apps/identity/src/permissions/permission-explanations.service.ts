import { Injectable } from '@nestjs/common';
import { Database, type WorkerTransaction } from '@customer-platform/database';
import { isOfOwnFactors, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type {
  ExplainedPrincipal,
  ExplainPermissionDto,
  GivingRoleDto,
  MissingBecause,
  PermissionExplanationDto,
} from './permission-explanations.dto.js';

/** How a principal stands, whatever its roles. */
interface Standing {
  /** Why it can use nothing at all. */
  readonly missing: MissingBecause | null;
  readonly restriction: PermissionExplanationDto['restriction'];
}

/** A role of the principal's, and whether it gives the permission. */
interface HeldRole extends GivingRoleDto {
  readonly deleted: boolean;
  readonly gives: boolean;
}

/** A kind of principal: `$1` the organization, `$2` the id; of roles `$3` the permission. */
interface Kind {
  readonly standing: string;
  readonly roles: string;
}

/** As the registry reads it: what built-in roles give is the build's, what others give is written down. */
const ROLE = `
r.id AS role_id, r.name AS role, r.deleted_at IS NOT NULL AS deleted, r.deleted_at IS NULL AND (
  EXISTS (SELECT FROM built_in_permissions b WHERE b.key = r.key AND b.kind = r.kind AND b.permission = $3)
  OR r.key IS NULL AND EXISTS (
    SELECT FROM role_permissions p
     WHERE p.organization_id = r.organization_id AND p.role_id = r.id AND p.permission = $3
       AND p.removed_at IS NULL)) AS gives`;

const SUSPENDED = `CASE WHEN o.status = 'suspended' THEN 'organization_suspended' END`;

const KINDS: Readonly<Record<ExplainedPrincipal, Kind>> = {
  user: {
    standing: `
      SELECT CASE WHEN u.deleted_at IS NOT NULL THEN 'deleted' WHEN u.status <> 'active' THEN 'not_active'
                  WHEN m.id IS NULL THEN 'not_a_member' END AS missing,
             coalesce(${SUSPENDED}, CASE
               WHEN o.settings ->> 'mfa_policy' = 'required' AND NOT EXISTS (
                 SELECT FROM mfa_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL)
               THEN 'mfa_required' END) AS restriction
        FROM organizations o
        JOIN users u ON u.id = $2
        LEFT JOIN memberships m ON m.organization_id = o.organization_id AND m.user_id = u.id
       WHERE o.organization_id = $1 AND (u.organization_id = $1 OR m.id IS NOT NULL)`,
    roles: `
      SELECT a.id AS assignment_id, ${ROLE}
        FROM memberships m
        JOIN role_assignments a ON a.organization_id = m.organization_id AND a.membership_id = m.id
        JOIN roles r ON r.organization_id = a.organization_id AND r.id = a.role_id
       WHERE m.organization_id = $1 AND m.user_id = $2 ORDER BY a.created_at, a.id`,
  },
  api_key: {
    standing: `
      SELECT CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= statement_timestamp() THEN 'expired'
                  END AS missing,
             ${SUSPENDED} AS restriction
        FROM api_keys k JOIN organizations o ON o.organization_id = k.organization_id
       WHERE k.organization_id = $1 AND k.id = $2`,
    roles: `
      SELECT NULL::uuid AS assignment_id, ${ROLE}
        FROM api_keys k JOIN roles r ON r.organization_id = k.organization_id AND r.id = k.role_id
       WHERE k.organization_id = $1 AND k.id = $2`,
  },
  oauth_client: {
    standing: `
      SELECT CASE WHEN c.deleted_at IS NOT NULL THEN 'deleted' END AS missing, ${SUSPENDED} AS restriction
        FROM oauth_clients c JOIN organizations o ON o.organization_id = c.organization_id
       WHERE c.organization_id = $1 AND c.id = $2`,
    roles: `
      SELECT NULL::uuid AS assignment_id, ${ROLE}
        FROM oauth_clients c JOIN roles r ON r.organization_id = c.organization_id AND r.id = c.role_id
       WHERE c.organization_id = $1 AND c.id = $2`,
  },
};

/** Why somebody may do something, or may not (identity.md §5): what the registry answers, taken apart. */
@Injectable()
export class PermissionExplanations {
  constructor(private readonly database: Database) {}

  /** @throws Problem `reference_not_found` for a principal that the organization has not */
  explain(
    { organizationId }: RequestContext,
    { principal, permission }: ExplainPermissionDto,
  ): Promise<PermissionExplanationDto> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      const kind = KINDS[principal.type];
      const standing = await this.standingOf(tx, kind, principal.id);
      if (!standing) throw notFound();
      const roles = await tx.query<HeldRole>(kind.roles, [organizationId, principal.id, permission]);
      const through = roles
        .filter(({ gives }) => gives)
        .map(({ role_id, role, assignment_id }) => ({ role_id, role, assignment_id }));
      const missing = standing.missing ?? (through.length > 0 ? null : whyMissing(roles));
      return {
        allowed: missing === null && leavesRoom(standing.restriction, permission),
        restriction: standing.restriction,
        through,
        missing_because: missing,
      };
    });
  }

  private async standingOf(
    tx: WorkerTransaction,
    { standing }: Kind,
    id: string,
  ): Promise<Standing | undefined> {
    const [row] = await tx.query<Standing>(standing, [tx.organizationId, id]);
    return row;
  }
}

/** Of roles none of which gives it. */
function whyMissing(roles: readonly HeldRole[]): MissingBecause {
  if (roles.length === 0) return 'no_role';
  return roles.every(({ deleted }) => deleted) ? 'role_deleted' : 'not_in_roles';
}

/** Who lacks a second factor that is asked for can still get one. */
function leavesRoom(restriction: Standing['restriction'], permission: string): boolean {
  return restriction === null || (restriction === 'mfa_required' && isOfOwnFactors(permission));
}

function notFound(): Problem {
  const detail = 'The organization has no such principal.';
  return new Problem('reference_not_found', {
    detail,
    errors: [{ pointer: '/principal/id', code: 'reference_not_found', detail }],
  });
}
