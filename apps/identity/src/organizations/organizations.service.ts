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
import { demandHeld } from '../roles/escalation.js';
import { OrganizationFounding } from './organization.founding.js';
import { readMemberJwk, type MemberJwk } from './member-jwk.js';
import type { CreateOrganizationDto, SettingsDto, UpdateOrganizationDto } from './organization.dto.js';
import { Organization } from './organization.entity.js';
import { organizationEvent } from './organization.events.js';
import type { StoredSettings } from './organization-settings.js';
import { organizationReferences } from './organization-references.js';

const IN_REACH = `SELECT FROM organizations WHERE organization_id = $2 AND path @> ARRAY[$1::uuid]`;
const ACTIVE_CHILD = `SELECT FROM organizations WHERE parent_id = $1 AND deleted_at IS NULL LIMIT 1`;
const PARENT = `SELECT deleted_at IS NOT NULL AS deleted FROM organizations WHERE organization_id = $1 FOR SHARE`;
const MACHINE_OWNER = `SELECT id FROM roles WHERE organization_id = $1 AND key = 'owner' AND kind = 'machine'`;

/** What a tenant token stands on, and so whoever signs one. */
const VOUCHING: Permission = 'core.members.exchange';

/** A new organization, with its first key where one was wished for. */
export interface CreatedOrganization {
  organization: Organization;
  apiKey?: IssuedApiKey;
}

/**
 * Organizations as a tree (identity.md §2). A caller reads its own and those below it; it writes theirs, and of its
 * own what is not an ancestor's to say.
 */
@Injectable()
export class OrganizationsService {
  private readonly organizations: ResourceStore<Organization>;

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
      constraints: { unique: { organizations_slug: { field: 'slug', pointer: '/slug' } } },
      event: organizationEvent,
      // What other modules have of it is the organization's own, and not the one's that purges it.
      remoteReferences: { hold: (held) => remoteReferences.hold({ ...held, organizationId: held.id }) },
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<Organization>> {
    return this.organizations.page(context, query);
  }

  get(context: RequestContext, id: string): Promise<Organization> {
    return this.organizations.get(context, id);
  }

  /**
   * Founds an organization below the caller's.
   * @throws Problem `duplicate_value`, `limit_reached` beyond five levels, `privilege_escalation`
   */
  create(context: RequestContext, body: CreateOrganizationDto): Promise<CreatedOrganization> {
    if (body.issue_api_key) demandHeld(context, PERMISSIONS);
    if (body.settings?.member_jwks) demandMayVouch(context, undefined);
    const { name, slug, locale, timezone, settings } = body;
    return this.database.acrossOrganizations(async (tx) => {
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
  }

  /** @throws Problem `ancestor_required`, `privilege_escalation`, `resource_deleted`, `etag_mismatch` */
  update(context: RequestContext, id: string, body: UpdateOrganizationDto): Promise<Organization> {
    const { name, status, locale, timezone, settings } = body;
    if (status !== undefined || settings?.rate_limits !== undefined) demandAncestor(context, id);
    const vouches = settings?.member_jwks !== undefined;
    const patch = {
      ...(name === undefined ? {} : { name }),
      ...(locale === undefined ? {} : { locale: canonicalLocale(locale) ?? locale }),
      ...(timezone === undefined ? {} : { timezone: canonicalTimeZone(timezone) ?? timezone }),
      ...(settings === undefined ? {} : { settings: plain(settings) }),
    };
    return this.write(context, id, (tx) => {
      if (vouches) demandMayVouch(context, id);
      return this.organizations.update(context, id, (row) => ({ ...patch, ...this.turn(row, status) }), {
        tx,
      });
    });
  }

  /** Its credentials are refused within a second. @throws Problem `ancestor_required`, `has_children` */
  softDelete(context: RequestContext, id: string): Promise<void> {
    demandAncestor(context, id);
    return this.write(context, id, (tx) =>
      this.organizations.softDelete(context, id, { tx, guard: demandChildless }),
    );
  }

  /** @throws Problem `ancestor_required`, `not_deleted`, `restore_conflict`, `invalid_state` below a deleted one */
  restore(context: RequestContext, id: string): Promise<Organization> {
    demandAncestor(context, id);
    return this.write(context, id, (tx) =>
      this.organizations.restore(context, id, { tx, guard: demandActiveParent }),
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

async function demandChildless(tx: Transaction, { id }: Organization): Promise<void> {
  if ((await tx.query(ACTIVE_CHILD, [id])).length === 0) return;
  throw new Problem('has_children', { detail: 'Delete the organizations below it first.' });
}

/** The share lock keeps the parent from being deleted meanwhile. */
async function demandActiveParent(tx: Transaction, { parentId }: Organization): Promise<void> {
  const [parent] = await tx.query<{ deleted: boolean }>(PARENT, [parentId]);
  if (parent && !parent.deleted) return;
  throw new Problem('invalid_state', { detail: 'The organization above it is deleted: restore that first.' });
}

/** Settings as JSON merges them; keys reduced to what verifies. */
function plain({ rate_limits, mfa_policy, session, member_jwks }: SettingsDto): StoredSettings {
  const keys = member_jwks?.keys.map((key) => readMemberJwk(key) as MemberJwk);
  const given = { rate_limits, mfa_policy, session, member_jwks: keys ? { keys } : member_jwks };
  return JSON.parse(JSON.stringify(given)) as StoredSettings;
}

function withoutNulls<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_key, member: unknown) => (member === null ? undefined : member)),
  ) as T;
}
