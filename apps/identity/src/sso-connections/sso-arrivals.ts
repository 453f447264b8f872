import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { Clock, Database, type WorkerTransaction } from '@customer-platform/database';
import { turns, type RequestOrigin } from '@customer-platform/http';
import { MembershipsService } from '../memberships/memberships.service.js';
import { RoleAssignmentsService } from '../role-assignments/role-assignments.service.js';
import { UserArrivals } from '../users/user-arrivals.js';
import { domainOf } from '../vocabulary/domain-name.js';
import { DomainClaims, type HeldDomains } from './domain-claims.js';
import type { ProviderPerson } from './provider-claims.js';
import { SsoRefusal } from '../vocabulary/sso-refusal.js';
import { addressForms } from '../vocabulary/is-email-address.js';

/** The connection that somebody comes by. */
interface ArrivingBy {
  readonly id: string;
  readonly organizationId: string;
}

/** The request they come with. */
export type ArrivalRequest = RequestOrigin & { readonly correlationId: string };

/** Who comes in two windows at once is found by the second try. */
const TRIES = 3;

/** Held until they are in: whoever switches it off waits, and finds them. */
const CONNECTION = `
SELECT jit, jit_role_ids FROM sso_connections
 WHERE organization_id = $1 AND id = $2 AND status = 'active' AND deleted_at IS NULL FOR SHARE`;
const LINKED = `
SELECT u.id, u.organization_id, u.email, u.status, u.deleted_at IS NOT NULL AS deleted
  FROM sso_links l JOIN users u ON u.id = l.user_id
 WHERE l.organization_id = $1 AND l.issuer = $2 AND l.subject = $3`;
const KNOWN = `
SELECT id, organization_id, email, status, false AS deleted FROM users
 WHERE lower(email) = ANY ($1::text[]) AND deleted_at IS NULL
 ORDER BY array_position($1::text[], lower(email)) LIMIT 1 FOR UPDATE`;
/** Who was deleted and is here again is linked as who they are now. */
const LINK = `
INSERT INTO sso_links (organization_id, issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (organization_id, issuer, subject) DO UPDATE SET user_id = excluded.user_id, created_at = excluded.created_at
 WHERE sso_links.user_id IN (SELECT id FROM users WHERE deleted_at IS NOT NULL)`;

interface ConnectionRow {
  jit: boolean;
  jit_role_ids: string[];
}

interface UserRow {
  id: string;
  organization_id: string;
  email: string;
  status: 'invited' | 'active' | 'suspended';
  deleted: boolean;
}

/**
 * From a person of a provider to a user (identity.md §6): known by (issuer, subject), or by a verified address of a
 * proven domain to somebody at home here, or new where the connection makes users.
 */
@Injectable()
export class SsoArrivals {
  constructor(
    private readonly database: Database,
    private readonly claims: DomainClaims,
    private readonly arrivals: UserArrivals,
    private readonly memberships: MembershipsService,
    private readonly assignments: RoleAssignmentsService,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** The user's id. @throws SsoRefusal */
  async arrive(by: ArrivingBy, person: ProviderPerson, request: ArrivalRequest): Promise<string> {
    for await (const _ of turns({ most: TRIES })) {
      const userId = await this.tryOnce(by, person, request);
      if (userId !== undefined) return userId;
    }
    throw new Error('Whoever comes is somebody else each time they are looked at');
  }

  /** Undefined where they have come another way, or in another window, since they were looked at. */
  private async tryOnce(
    by: ArrivingBy,
    person: ProviderPerson,
    request: ArrivalRequest,
  ): Promise<string | undefined> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(by.organizationId);
      const [connection] = await tx.query<ConnectionRow>(CONNECTION, [by.organizationId, by.id]);
      if (!connection) throw new SsoRefusal('connection_off');
      const domains = await this.claims.held(tx, by.id);
      const [linked] = await tx.query<UserRow>(LINKED, [by.organizationId, person.issuer, person.subject]);
      if (linked && !linked.deleted) return admitted(linked, domains);
      const email = vouchedFor(person, domains);
      const [known] = await tx.query<UserRow>(KNOWN, [addressForms(email)]);
      // Who was deleted here comes again only as somebody whom this organization has written down or invited since.
      if (linked && known?.organization_id !== by.organizationId) throw new SsoRefusal('account_disabled');
      const userId = await this.meet(tx, request, { connection, domains, person, email, known });
      if (userId === undefined) return undefined;
      await this.link(tx, contextOf(request, by.organizationId, userId), person);
      return userId;
    });
  }

  /** Who comes for the first time: somebody of this home, or somebody new. */
  private async meet(
    tx: WorkerTransaction,
    request: ArrivalRequest,
    first: {
      readonly connection: ConnectionRow;
      readonly domains: HeldDomains;
      readonly person: ProviderPerson;
      readonly email: string;
      readonly known: UserRow | undefined;
    },
  ): Promise<string | undefined> {
    const { connection, domains, known } = first;
    if (known && known.status !== 'invited') {
      if (known.organization_id !== tx.organizationId) throw new SsoRefusal('account_elsewhere');
      return admitted(known, domains);
    }
    const isWrittenDown = known?.organization_id === tx.organizationId;
    if (!connection.jit && !isWrittenDown) throw new SsoRefusal('no_account');
    return this.welcome(tx, request, first);
  }

  private async welcome(
    tx: WorkerTransaction,
    request: ArrivalRequest,
    { connection, person, email }: { connection: ConnectionRow; person: ProviderPerson; email: string },
  ): Promise<string | undefined> {
    const { organizationId } = tx;
    const name = person.name ?? email.slice(0, 80);
    const userId = await this.arrivals.arrive(
      tx,
      { email, name, locale: person.locale, passwordHash: null },
      (id) => contextOf(request, organizationId, id),
    );
    if (userId === undefined) return undefined;
    const context = contextOf(request, organizationId, userId);
    await this.memberships.endElsewhere(tx, context, userId);
    if (connection.jit) {
      const membershipId = await this.memberships.joined(tx, context, userId);
      // Whoever signs in can change nothing about having too many, and is not kept out for it.
      const roles = { membershipId, roleIds: connection.jit_role_ids, fitting: true };
      await this.assignments.assignMissing(tx, context, roles);
    }
    return userId;
  }

  private async link(tx: WorkerTransaction, context: AuditContext, person: ProviderPerson): Promise<void> {
    const { issuer, subject } = person;
    const userId = context.actor.id;
    await tx.query(LINK, [tx.organizationId, issuer, subject, userId, this.clock.now()]);
    await this.audit.record(tx, context, {
      action: 'identity.users.link_sso',
      resource: { type: 'users', id: userId },
      changedFields: ['sso_link'],
    });
  }
}

/** Whoever the provider means, the user's own address is of a domain whose owner has chosen this provider. */
function admitted({ id, email, status, deleted }: UserRow, domains: HeldDomains): string {
  if (deleted || status !== 'active') throw new SsoRefusal('account_disabled');
  if (!domains.has(domainOf(email) ?? '')) throw new SsoRefusal('foreign_domain');
  return id;
}

function vouchedFor({ email }: ProviderPerson, domains: HeldDomains): string {
  if (email === undefined) throw new SsoRefusal('no_verified_email');
  if (!domains.has(domainOf(email) ?? '')) throw new SsoRefusal('foreign_domain');
  return email;
}

function contextOf(request: ArrivalRequest, organizationId: string, userId: string): AuditContext {
  return { ...request, organizationId, actor: { type: 'user', id: userId } };
}
