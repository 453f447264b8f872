import { Injectable } from '@nestjs/common';
import {
  Clock,
  Database,
  RemoteReferences,
  ResourceStores,
  type ReferenceCount,
  type ResourceStore,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import {
  canonicalLocale,
  canonicalTimeZone,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import { ApiKeyIssuing, type IssuedApiKey } from '../api-keys/api-key.issuing.js';
import { demandHeld } from '../vocabulary/escalation.js';
import { OrganizationFounding } from './organization.founding.js';
import { readMemberJwk, type MemberJwk } from '../vocabulary/organizations/member-jwk.js';
import type { CreateOrganizationDto, SettingsDto, UpdateOrganizationDto } from './organization.dto.js';
import { Organization, organizationEvent } from './organization.entity.js';
import {
  asksFewer,
  defaultMfaPolicy,
  removesMore,
  type RetentionSettings,
  type OrganizationSettings,
  type StoredSettings,
} from '../vocabulary/organizations/organization-settings.js';
import { organizationReferences } from './organization-references.js';
import { effectiveLimits } from '../vocabulary/organizations/effective-limits.js';
import { ancestorsOf, demandRoomBelow, demandWithin } from './rate-limits.js';
import type { SeenOrganization } from './to-organization-dto.js';

const IN_REACH = `SELECT FROM organizations WHERE organization_id = $2 AND path @> ARRAY[$1::uuid]`;
const ACTIVE_CHILD = `SELECT FROM organizations WHERE parent_id = $1 AND deleted_at IS NULL LIMIT 1`;
const PARENT = `
SELECT id, deleted_at IS NOT NULL AS deleted, parent_id IS NULL AS is_root
  FROM organizations WHERE organization_id = $1 FOR NO KEY UPDATE`;
const MACHINE_OWNER = `SELECT id FROM roles WHERE organization_id = $1 AND key = 'owner' AND kind = 'machine'`;

/** What a tenant token stands on, and so whoever signs one. */
const VOUCHING: Permission = 'core.members.exchange';

/** What it takes to have more removed for good. */
const PURGING: Permission = 'identity.organizations.purge';

/** A new organization, with its first key where one was wished for. */
interface CreatedOrganization extends SeenOrganization {
  apiKey?: IssuedApiKey;
}

/**
 * Organizations as a tree (identity.md §2). A caller reads its own and those below it; it writes theirs, and of its
 * own what is not an ancestor's to say.
 */
@Injectable()
export class OrganizationsService {
  private readonly organizations: ResourceStore<Organization>;
  private readonly mfaPolicy = defaultMfaPolicy();

  constructor(
    private readonly database: Database,
    private readonly founding: OrganizationFounding,
    private readonly keys: ApiKeyIssuing,
    private readonly clock: Clock,
    stores: ResourceStores,
    remoteReferences: RemoteReferences,
  ) {
    this.organizations = stores.of<Organization>({
      entity: Organization,
      module: 'identity',
      resource: 'organizations',
      reach: {
        condition: 'path @> ARRAY[$1::uuid]',
        key: (id) => ({ organizationId: id, id }),
      },
      bookkeeping: ['suspendedAt', 'reactivatedAt'],
      toldByMember: ['settings'],
      constraints: { unique: { organizations_slug: { field: 'slug', pointer: '/slug' } } },
      event: organizationEvent,
      // What other modules have of it is the organization's own, and not the one's that purges it.
      remoteReferences: { hold: (held) => remoteReferences.hold({ ...held, organizationId: held.id }) },
    });
  }

  async list(context: RequestContext, query: ListQuery): Promise<Page<SeenOrganization>> {
    const { data, page } = await this.organizations.page(context, query);
    return { data: await this.seen(data), page };
  }

  async get(context: RequestContext, id: string): Promise<SeenOrganization> {
    return this.one(await this.organizations.get(context, id));
  }

  /**
   * Founds an organization below the caller's.
   * @throws Problem `duplicate_value`, `limit_reached` beyond five levels or a thousand children,
   *   `privilege_escalation`, `validation_failed` for rate limits above the caller's own
   */
  async create(context: RequestContext, body: CreateOrganizationDto): Promise<CreatedOrganization> {
    if (body.issue_api_key) demandHeld(context, PERMISSIONS);
    if (body.settings?.member_jwks) demandMayVouch(context, undefined);
    if (body.settings?.sso_organizations?.length) demandHeld(context, PERMISSIONS);
    if (body.settings?.mfa_policy) demandMayWeaken(context, this.mfaPolicy, body.settings.mfa_policy);
    const { name, slug, locale, timezone, settings } = body;
    const created = await this.database.acrossOrganizations(async (tx) => {
      const founded = await this.founding.found(
        tx,
        {
          name,
          slug,
          parentId: context.organizationId,
          ...(locale === undefined ? {} : { locale: canonicalLocale(locale) ?? locale }),
          ...(timezone === undefined ? {} : { timezone: canonicalTimeZone(timezone) ?? timezone }),
          ...(settings === undefined ? {} : { settings: withoutNulls(plain(settings)) }),
        },
        () => context,
      );
      const apiKey = body.issue_api_key ? await this.issueFirstKey(tx, context, founded.id) : undefined;
      await tx.useOrganization(context.organizationId);
      const organization = await this.organizations.get(context, founded.id, 'any', tx);
      return { organization, ...(apiKey ? { apiKey } : {}) };
    });
    return {
      ...(await this.one(created.organization)),
      ...(created.apiKey ? { apiKey: created.apiKey } : {}),
    };
  }

  /**
   * @throws Problem `ancestor_required`, `privilege_escalation`, `permission_denied` for a shorter retention without
   *   the permission to purge, `resource_deleted`, `etag_mismatch`, `validation_failed` for rate limits above those of
   *   the organizations above
   */
  async update(context: RequestContext, id: string, body: UpdateOrganizationDto): Promise<SeenOrganization> {
    const { name, status, locale, timezone, settings } = body;
    if (status !== undefined || settings?.rate_limits !== undefined) demandAncestor(context, id);
    const vouches = settings?.member_jwks !== undefined;
    const patch = {
      ...(name === undefined ? {} : { name }),
      ...(locale === undefined ? {} : { locale: canonicalLocale(locale) ?? locale }),
      ...(timezone === undefined ? {} : { timezone: canonicalTimeZone(timezone) ?? timezone }),
      ...(settings === undefined ? {} : { settings: plain(settings) }),
    };
    const updated = await this.write(context, id, async (tx) => {
      if (vouches) demandMayVouch(context, id);
      if (settings?.retention !== undefined) demandOwnRetention(context, id);
      if (settings?.sso_organizations !== undefined) demandOwnWaysIn(context, id);
      if (settings?.rate_limits) {
        demandWithin(settings.rate_limits, (await ancestorsOf(tx, [id])).get(id.toLowerCase()) ?? []);
      }
      return this.organizations.update(
        context,
        id,
        (row) => {
          if (settings?.retention) demandMayRemove(context, row.settings.retention, settings.retention);
          demandMayLetIn(context, row.settings.sso_organizations, settings?.sso_organizations);
          const { mfa_policy: before = this.mfaPolicy } = row.settings;
          const given = settings?.mfa_policy === null ? this.mfaPolicy : settings?.mfa_policy;
          if (given !== undefined) demandMayWeaken(context, before, given);
          return { ...patch, ...this.turn(row, status) };
        },
        { tx },
      );
    });
    return this.one(updated);
  }

  /** Its credentials are refused within a second. @throws Problem `ancestor_required`, `has_children` */
  softDelete(context: RequestContext, id: string): Promise<void> {
    demandAncestor(context, id);
    return this.write(context, id, (tx) =>
      this.organizations.softDelete(context, id, { tx, guard: demandChildless }),
    );
  }

  /** @throws Problem `ancestor_required`, `not_deleted`, `restore_conflict`, `invalid_state` below a deleted one,
   *  `limit_reached` below one that has a thousand */
  async restore(context: RequestContext, id: string): Promise<SeenOrganization> {
    demandAncestor(context, id);
    return this.one(
      await this.write(context, id, (tx) =>
        this.organizations.restore(context, id, { tx, guard: demandActiveParent }),
      ),
    );
  }

  /**
   * @throws Problem `ancestor_required`, `not_soft_deleted`, `resource_referenced` while any module holds more of it
   * than is built in, `dependency_unavailable` while one is silent
   */
  purge(context: RequestContext, id: string): Promise<void> {
    demandAncestor(context, id);
    let references: readonly ReferenceCount[] = [];
    return this.write(context, id, (tx) =>
      this.organizations.purge(context, id, {
        tx,
        guard: async () => {
          references = await organizationReferences(tx, id);
          await tx.useOrganization(context.organizationId);
        },
        references: () => references,
      }),
    );
  }

  private async one(organization: Organization): Promise<SeenOrganization> {
    const [seen] = await this.seen([organization]);
    if (!seen) throw new Error('Of one organization none was looked at');
    return seen;
  }

  /** With the limits that hold, for which those above are looked at, whom the caller itself does not see. */
  private seen(organizations: readonly Organization[]): Promise<SeenOrganization[]> {
    return this.database.acrossOrganizations(async (tx) => {
      const ancestors = await ancestorsOf(
        tx,
        organizations.map(({ id }) => id),
      );
      return organizations.map((organization) => {
        const { limits } = effectiveLimits(organization.settings, ancestors.get(organization.id) ?? []);
        return { organization, limits, mfaPolicy: this.mfaPolicy };
      });
    });
  }

  /** A write to an organization within reach: as worker, for its event is its own and not the caller's. */
  private write<T>(
    context: RequestContext,
    id: string,
    work: (tx: WorkerTransaction) => Promise<T>,
  ): Promise<T> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(context.organizationId);
      const reached = await tx.query(IN_REACH, [context.organizationId, id]);
      if (reached.length === 0) throw new Problem('not_found');
      return work(tx);
    });
  }

  /** Suspended or active again, and since when. */
  private turn(row: Organization, status: Organization['status'] | undefined): Partial<Organization> {
    if (status === undefined || status === row.status) return {};
    const now = this.clock.now();
    return status === 'suspended' ? { status, suspendedAt: now } : { status, reactivatedAt: now };
  }

  private async issueFirstKey(
    tx: WorkerTransaction,
    context: RequestContext,
    organizationId: string,
  ): Promise<IssuedApiKey> {
    await tx.useOrganization(organizationId);
    const [role] = await tx.query<{ id: string }>(MACHINE_OWNER, [organizationId]);
    if (!role) throw new Error('A new organization has no machine role owner');
    return this.keys.issue(tx, { ...context, organizationId }, { name: 'First key', roleId: role.id });
  }
}

function demandAncestor(context: RequestContext, id: string): void {
  if (id.toLowerCase() !== context.organizationId) return;
  throw new Problem('ancestor_required', { detail: 'This is said of an organization by one above it.' });
}

/**
 * Who sets the keys that verify tenant tokens can write such tokens, and read every member by them: the organization
 * itself, by a caller who may exchange tokens. Nobody holds that permission in another organization, an ancestor and
 * a founder included (identity.md §2).
 * @throws Problem `privilege_escalation`
 */
function demandMayVouch(context: RequestContext, id: string | undefined): void {
  if (id?.toLowerCase() === context.organizationId) return demandHeld(context, [VOUCHING]);
  throw new Problem('privilege_escalation', {
    detail: '`member_jwks` is set by the organization itself, not by one above it.',
    members: { missing: [VOUCHING] },
  });
}

/**
 * For how long things are kept is said by the organization itself: what is removed is its own, and an ancestor changes
 * nothing inside it (identity.md §2).
 * @throws Problem `privilege_escalation`
 */
function demandOwnRetention(context: RequestContext, id: string): void {
  if (id.toLowerCase() === context.organizationId) return;
  throw new Problem('privilege_escalation', {
    detail: '`retention` is set by the organization itself, not by one above it.',
    members: { missing: [PURGING] },
  });
}

/**
 * A period that is new or shorter removes for good, which takes more than to change settings; a longer one, or none,
 * does not.
 * @param before of the locked row; of an organization that is founded what holds where nothing is said
 * @throws Problem `permission_denied` with `permission`
 */
function demandMayRemove(
  context: RequestContext,
  before: Partial<RetentionSettings> | undefined,
  given: Partial<RetentionSettings>,
): void {
  if (!removesMore(before, given) || context.can(PURGING)) return;
  throw new Problem('permission_denied', {
    detail: `A period that is new or shorter removes for good: the credential lacks the permission \`${PURGING}\`.`,
    members: { permission: PURGING },
  });
}

/** Whose connections let people in here is said by the organization itself. @throws Problem `privilege_escalation` */
function demandOwnWaysIn(context: RequestContext, id: string): void {
  if (id.toLowerCase() === context.organizationId) return;
  throw new Problem('privilege_escalation', {
    detail: '`sso_organizations` is set by the organization itself, not by one above it.',
    members: { missing: [] },
  });
}

/**
 * Whoever edits a connection of one that is let in can come in here as anybody with an address of its domains, an owner
 * perhaps.
 * @param before of the locked row; of an organization that is founded what holds where nothing is said
 * @throws Problem `privilege_escalation`
 */
function demandMayLetIn(
  context: RequestContext,
  before: readonly string[] = [],
  given: readonly string[] | null | undefined,
): void {
  if (given?.some((id) => !before.includes(id.toLowerCase()))) demandHeld(context, PERMISSIONS);
}

/**
 * Whoever has fewer asked for a second factor lets whoever knows an owner's password act as that owner.
 * @param before of the locked row; of an organization that is founded what holds where nothing is said
 * @throws Problem `privilege_escalation`
 */
function demandMayWeaken(
  context: RequestContext,
  before: OrganizationSettings['mfa_policy'],
  given: OrganizationSettings['mfa_policy'],
): void {
  if (asksFewer(before, given)) demandHeld(context, PERMISSIONS);
}

async function demandChildless(tx: Transaction, { id }: Organization): Promise<void> {
  if ((await tx.query(ACTIVE_CHILD, [id])).length === 0) return;
  throw new Problem('has_children', { detail: 'Delete the organizations below it first.' });
}

/** The lock keeps the parent from being deleted, and others from coming below it, meanwhile. */
async function demandActiveParent(tx: Transaction, { parentId }: Organization): Promise<void> {
  const [parent] = await tx.query<{ id: string; deleted: boolean; is_root: boolean }>(PARENT, [parentId]);
  if (parent && !parent.deleted) return demandRoomBelow(tx, { id: parent.id, isRoot: parent.is_root });
  throw new Problem('invalid_state', { detail: 'The organization above it is deleted: restore that first.' });
}

/** Settings as JSON merges them; keys reduced to what verifies. */
function plain({ member_jwks, sso_organizations, ...others }: SettingsDto): StoredSettings {
  const keys = member_jwks?.keys.map((key) => readMemberJwk(key) as MemberJwk);
  const letIn = sso_organizations?.map((id) => id.toLowerCase()) ?? sso_organizations;
  const given = { ...others, member_jwks: keys ? { keys } : member_jwks, sso_organizations: letIn };
  return JSON.parse(JSON.stringify(given)) as StoredSettings;
}

function withoutNulls<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_key, member: unknown) => (member === null ? undefined : member)),
  ) as T;
}
