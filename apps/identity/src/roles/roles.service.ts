import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import {
  Clock,
  Database,
  ResourceStores,
  versionTag,
  type ResourceStore,
  type Transaction,
} from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { requireMatch, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { demandHeld } from '../vocabulary/escalation.js';
import type { CreateRoleDto, UpdateRoleDto, RoleWithPermissions } from './role.dto.js';
import { Role, roleEvent } from './role.entity.js';
import { RoleGrants } from './role-grants.js';

const MOST_ROLES = 200;

const TOUCH = `
UPDATE roles SET updated_at = greatest($3::timestamptz, updated_at + interval '1 ms')
 WHERE organization_id = $1 AND id = $2`;

/** Roles (identity.md §4). Built-in ones follow the registry of the build; every write to them is refused. */
@Injectable()
export class RolesService {
  private readonly roles: ResourceStore<Role>;

  constructor(
    private readonly database: Database,
    private readonly grants: RoleGrants,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    stores: ResourceStores,
  ) {
    this.roles = stores.of<Role>({
      entity: Role,
      module: 'identity',
      resource: 'roles',
      limit: MOST_ROLES,
      constraints: { unique: { roles_name: { field: 'name', pointer: '/name', value: 'lower(name)' } } },
      bookkeeping: ['key'],
      event: roleEvent,
      referencedBy: [
        { table: 'api_keys', column: 'role_id', resource: 'api_keys' },
        { table: 'oauth_clients', column: 'role_id', resource: 'oauth_clients' },
        { table: 'role_assignments', column: 'role_id', resource: 'role_assignments' },
      ],
      afterChange: async (tx, _context, { verb, row }) => {
        if (verb === 'purged') await this.grants.forget(tx, row.id);
      },
    });
  }

  async list(context: RequestContext, query: ListQuery): Promise<Page<RoleWithPermissions>> {
    const { data, page } = await this.roles.page(context, query);
    const ids = data.map(({ id }) => id);
    const held = await this.database.inOrganization(context, (tx) => this.grants.of(tx, ids));
    return { data: data.map((role) => ({ role, permissions: held.get(role.id) ?? [] })), page };
  }

  /** @throws Problem `privilege_escalation`, `duplicate_value`, `limit_reached` */
  create(context: RequestContext, body: CreateRoleDto): Promise<RoleWithPermissions> {
    const { name, description = null, kind, permissions = [] } = body;
    demandHeld(context, permissions);
    return this.database.inOrganization(context, async (tx) => {
      const role = await this.roles.create(
        context,
        { name, description, kind, key: null },
        { tx, furtherFields: ['permissions'] },
      );
      await this.grants.add(tx, role.id, permissions);
      return this.withPermissions(tx, role);
    });
  }

  get(context: RequestContext, id: string): Promise<RoleWithPermissions> {
    return this.database.inOrganization(context, async (tx) =>
      this.withPermissions(tx, await this.roles.get(context, id, 'any', tx)),
    );
  }

  /** @throws Problem `built_in_role`, `resource_deleted`, `etag_mismatch`, `duplicate_value` */
  update(
    context: RequestContext,
    id: string,
    { name, description }: UpdateRoleDto,
  ): Promise<RoleWithPermissions> {
    return this.database.inOrganization(context, async (tx) => {
      const patch = {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
      };
      return this.withPermissions(tx, await this.roles.update(context, id, patch, { tx, guard: demandOwn }));
    });
  }

  /**
   * Replaces what a role permits. Adding needs the caller to hold what is added, taking away does not.
   * @throws Problem `built_in_role`, `resource_deleted`, `etag_mismatch`, `privilege_escalation` with `missing`
   */
  replacePermissions(
    context: RequestContext,
    id: string,
    permissions: readonly string[],
  ): Promise<RoleWithPermissions> {
    return this.database.inOrganization(context, async (tx) => {
      const role = await this.roles.lock(tx, context, id);
      if (role.deletedAt) throw new Problem('resource_deleted');
      demandOwn(tx, role);
      requireMatch(context.ifMatch, versionTag(role));
      const { permissions: before } = await this.withPermissions(tx, role);
      const added = permissions.filter((permission) => !before.includes(permission)).sort();
      const removed = before.filter((permission) => !permissions.includes(permission));
      if (added.length + removed.length === 0) return { role, permissions: before };
      demandHeld(context, added);
      await this.grants.remove(tx, id, removed);
      await this.grants.add(tx, id, added);
      await tx.query(TOUCH, [tx.organizationId, id, this.clock.now()]);
      await this.tellReplaced(tx, context, id, { added, removed });
      return this.withPermissions(tx, await this.roles.get(context, id, 'any', tx));
    });
  }

  /** From then on it grants nothing, to nobody. @throws Problem `built_in_role` */
  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.roles.softDelete(context, id, { guard: demandOwn });
  }

  /** Gives what it permits back to all who have it. @throws Problem `privilege_escalation`, `not_deleted`, `restore_conflict` */
  restore(context: RequestContext, id: string): Promise<RoleWithPermissions> {
    return this.database.inOrganization(context, async (tx) => {
      const guard = async (_: Transaction, role: Role): Promise<void> => {
        demandHeld(context, (await this.withPermissions(tx, role)).permissions);
      };
      return this.withPermissions(tx, await this.roles.restore(context, id, { tx, guard }));
    });
  }

  /** @throws Problem `not_soft_deleted`, `resource_referenced` */
  purge(context: RequestContext, id: string): Promise<void> {
    return this.roles.purge(context, id, { guard: (tx) => this.grants.forgetEndedKeys(tx, id) });
  }

  private async withPermissions(tx: Transaction, role: Role): Promise<RoleWithPermissions> {
    return { role, permissions: (await this.grants.of(tx, [role.id])).get(role.id) ?? [] };
  }

  private async tellReplaced(
    tx: Transaction,
    context: RequestContext,
    id: string,
    change: { added: string[]; removed: string[] },
  ): Promise<void> {
    await this.audit.record(tx, context, {
      action: 'identity.roles.update',
      resource: { type: 'roles', id },
      changedFields: ['permissions'],
    });
    await this.outbox.append(tx, {
      type: 'identity.role.permissions_replaced.v1',
      organizationId: tx.organizationId,
      key: id,
      subject: `roles/${id}`,
      data: { organization_id: tx.organizationId, id, ...change },
      correlationId: context.correlationId,
    });
  }
}

function demandOwn(_: Transaction, { key }: Role): void {
  if (key === null) return;
  throw new Problem('built_in_role', { detail: 'A built-in role is the same in every organization.' });
}
