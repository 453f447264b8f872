import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { Clock, newId, postgresFailure, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { Problem } from '@customer-platform/problem-json';
import { BuiltInPermissions } from '../roles/built-in.permissions.js';
import type { RateLimits, StoredSettings } from '../vocabulary/organizations/organization-settings.js';
import { ancestorsOf, demandRoomBelow, demandWithin } from './rate-limits.js';

/** An organization to be founded. */
export interface NewOrganization {
  name: string;
  slug: string;
  /** The organization above; absent for the root alone. */
  parentId?: string;
  /** The parent's unless given; the root needs them. */
  locale?: string;
  timezone?: string;
  settings?: StoredSettings;
}

/** An organization as it was founded. */
export interface FoundedOrganization {
  id: string;
  slug: string;
  name: string;
}

interface ParentRow {
  id: string;
  parent_id: string | null;
  path: string[];
  locale: string;
  timezone: string;
  settings: StoredSettings;
}

/** Root, child, grandchild: the tree is at most so deep (identity.md §2). */
const MAX_DEPTH = 5;

const HOLD_ANCESTORS = `
SELECT FROM organizations a
 WHERE a.organization_id IN (SELECT unnest(path) FROM organizations WHERE organization_id = $1)
   AND a.organization_id <> $1
 ORDER BY cardinality(a.path) FOR SHARE OF a`;
/** Those who found below one parent take turns, for its children are counted. */
const PARENT = `
SELECT id, parent_id, path, locale, timezone, settings, deleted_at
  FROM organizations WHERE organization_id = $1 FOR NO KEY UPDATE`;

const INSERT = `
INSERT INTO organizations
  (organization_id, id, parent_id, path, name, slug, locale, timezone, settings, created_at, updated_at)
VALUES ($1, $1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`;

const LIMIT = `
UPDATE organizations SET settings = settings || jsonb_build_object('rate_limits', $2::jsonb),
       updated_at = greatest($3::timestamptz, updated_at + interval '1 ms')
 WHERE organization_id = $1 AND settings -> 'rate_limits' IS DISTINCT FROM $2::jsonb
RETURNING slug`;

/** Founds organizations: the row, its built-in roles, one audit row in the log of who founds it, and its event. */
@Injectable()
export class OrganizationFounding {
  constructor(
    private readonly builtIn: BuiltInPermissions,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Founds one in `tx`, which is bound to the new organization afterwards. `founder` is asked for the audit context
   * once the id is known: the root is founded by itself.
   * @throws Problem `duplicate_value` when the slug is taken, `limit_reached` when the tree would be too deep, the
   *   parent has a thousand or its tenant ten thousand beneath it, `validation_failed` for rate limits above the parent's,
   *   `not_found` when the parent is none, `resource_deleted` when it is deleted
   */
  async found(
    tx: WorkerTransaction,
    organization: NewOrganization,
    founder: (organizationId: string) => AuditContext,
  ): Promise<FoundedOrganization> {
    const id = newId();
    const parent = await this.parentOf(tx, organization);
    await this.insert(tx, id, organization, parent);
    const context = founder(id);
    await tx.useOrganization(context.organizationId);
    await this.audit.record(tx, context, {
      action: 'identity.organizations.create',
      resource: { type: 'organizations', id },
      changedFields: ['name', 'slug', 'locale', 'timezone', ...(organization.settings ? ['settings'] : [])],
    });
    await tx.useOrganization(id);
    await this.builtIn.giveRoles(tx, id);
    await this.publish(tx, context, 'created', { id, slug: organization.slug }, []);
    return { id, slug: organization.slug, name: organization.name };
  }

  /**
   * Sets the rate limits of the organization `tx` is bound to, where they differ.
   * @throws Problem `validation_failed` for limits above those of the organizations above
   */
  async limit(tx: WorkerTransaction, context: AuditContext, limits: RateLimits): Promise<void> {
    demandWithin(limits, (await ancestorsOf(tx, [tx.organizationId])).get(tx.organizationId) ?? []);
    const [row] = await tx.query<{ slug: string }>(LIMIT, [
      tx.organizationId,
      JSON.stringify(limits),
      this.clock.now(),
    ]);
    if (!row) return;
    await this.audit.record(tx, context, {
      action: 'identity.organizations.update',
      resource: { type: 'organizations', id: tx.organizationId },
      changedFields: ['settings'],
    });
    await this.publish(tx, context, 'updated', { id: tx.organizationId, slug: row.slug }, ['settings']);
  }

  private async publish(
    tx: WorkerTransaction,
    context: AuditContext,
    verb: 'created' | 'updated',
    { id, slug }: { id: string; slug: string },
    changed: string[],
  ): Promise<void> {
    await this.outbox.append(tx, {
      type: `identity.organization.${verb}.v1`,
      organizationId: id,
      key: id,
      subject: `organizations/${id}`,
      data: { organization_id: id, id, slug, changed },
      correlationId: context.correlationId,
    });
  }

  private async parentOf(
    tx: WorkerTransaction,
    { parentId, settings }: NewOrganization,
  ): Promise<ParentRow | undefined> {
    if (parentId === undefined) return undefined;
    // Their limits are the new one's too: whoever changes them waits, and then raises its epoch with all below.
    await tx.query(HOLD_ANCESTORS, [parentId]);
    const [parent] = await tx.query<ParentRow & { deleted_at: Date | null }>(PARENT, [parentId]);
    if (!parent) throw new Problem('not_found');
    if (parent.deleted_at) throw new Problem('resource_deleted');
    if (parent.path.length >= MAX_DEPTH) {
      const detail = `Organizations stand at most ${String(MAX_DEPTH)} levels deep.`;
      throw new Problem('limit_reached', { detail, members: { limit: MAX_DEPTH } });
    }
    await demandRoomBelow(tx, { id: parent.id, isRoot: parent.parent_id === null });
    if (settings?.rate_limits) {
      const above = (await ancestorsOf(tx, [parent.id])).get(parent.id) ?? [];
      const { rate_limits } = parent.settings;
      const own = { id: parent.id, is_root: parent.parent_id === null, rate_limits: rate_limits ?? null };
      demandWithin(settings.rate_limits, [...above, own]);
    }
    return parent;
  }

  private async insert(
    tx: WorkerTransaction,
    id: string,
    organization: NewOrganization,
    parent: ParentRow | undefined,
  ): Promise<void> {
    const { name, slug, parentId = null } = organization;
    const locale = organization.locale ?? parent?.locale;
    const timezone = organization.timezone ?? parent?.timezone;
    const path = [...(parent?.path ?? []), id];
    const settings = JSON.stringify(organization.settings ?? {});
    const now = this.clock.now();
    try {
      await tx.query(INSERT, [id, parentId, path, name, slug, locale, timezone, settings, now]);
    } catch (error) {
      if (postgresFailure(error)?.constraint === 'organizations_slug') throw slugTaken();
      throw error;
    }
  }
}

function slugTaken(): Problem {
  const detail = 'This slug is taken.';
  return new Problem('duplicate_value', {
    detail,
    errors: [{ pointer: '/slug', code: 'duplicate_value', detail }],
  });
}
