import { Inject, Injectable } from '@nestjs/common';
import {
  Clock,
  Database,
  newId,
  ResourceStores,
  type KeySeal,
  type Patch,
  type ResourceStore,
  type WorkerTransaction,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { SessionEndings } from '../sessions/session-endings.js';
import { CLIENT_SECRET_SEAL } from './client-secret-seal.js';
import { DomainClaims } from './domain-claims.js';
import { domainName } from '../domain-name.js';
import { DomainProofs } from './domain-proofs.js';
import { checkIssuer } from './issuer-url.js';
import { ProviderBusy, ProviderPlaces, type PlaceOf } from './provider-places.js';
import { Providers, UnusableProvider } from './providers.js';
import type { CreateSsoConnectionDto, UpdateSsoConnectionDto } from './sso-connection.dto.js';
import { SsoConnection, ssoConnectionEvent } from './sso-connection.entity.js';
import { SsoReach } from './sso-reach.js';
import { SSO_CONFIG, type SsoConfig } from './sso.config.js';

const SWITCH_OFF = `
UPDATE sso_connections SET status = 'inactive' WHERE organization_id = $1 AND id = $2 AND status = 'active'`;
/** What of a connection decides as whom its provider lets people in. */
const DECIDES: readonly (keyof SsoConnection)[] = [
  'issuer',
  'clientId',
  'clientSecret',
  'domains',
  'jit',
  'jitRoleIds',
  'status',
];

/**
 * SSO connections (identity.md §6). DNS and the provider are asked before a transaction begins, which then checks that
 * what was asked about is still what it is about.
 */
@Injectable()
export class SsoConnectionsService {
  private readonly connections: ResourceStore<SsoConnection>;

  constructor(
    private readonly database: Database,
    private readonly claims: DomainClaims,
    private readonly proofs: DomainProofs,
    private readonly providers: Providers,
    private readonly places: ProviderPlaces,
    private readonly reach: SsoReach,
    private readonly sessions: SessionEndings,
    private readonly clock: Clock,
    @Inject(CLIENT_SECRET_SEAL) private readonly seal: KeySeal,
    @Inject(SSO_CONFIG) private readonly config: SsoConfig,
    stores: ResourceStores,
  ) {
    this.connections = stores.of<SsoConnection>({
      entity: SsoConnection,
      module: 'identity',
      resource: 'sso',
      event: ssoConnectionEvent,
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<SsoConnection>> {
    return this.connections.page(context, query);
  }

  get(context: RequestContext, id: string): Promise<SsoConnection> {
    return this.connections.get(context, id);
  }

  /** A draft: it leads nobody anywhere. @throws Problem `validation_failed`, `destination_not_allowed`, those of roles */
  async create(context: RequestContext, body: CreateSsoConnectionDto): Promise<SsoConnection> {
    const { name, protocol, issuer, client_id, client_secret, enforced = false, jit = false } = body;
    await checkIssuer(issuer, this.config);
    const id = newId();
    const jitRoleIds = body.jit_role_ids ?? [];
    return this.database.inOrganization(context, async (tx) => {
      await this.reach.demandRoles(tx, context, jitRoleIds);
      const clientSecret = this.seal.seal(id, client_secret);
      const domains = asNames(body.domains);
      const whose = { name, protocol, issuer, clientId: client_id, clientSecret, domains };
      return this.connections.create(
        context,
        { ...whose, id, enforced, enforcedAt: null, jit, jitRoleIds, status: 'draft' },
        { tx },
      );
    });
  }

  /**
   * @throws Problem `resource_deleted`, `etag_mismatch`, `invalid_state`, `domain_unverified`, `duplicate_value` for a
   *   domain that leads elsewhere, `privilege_escalation`, `validation_failed` for an issuer that does not serve
   */
  async update(context: RequestContext, id: string, body: UpdateSsoConnectionDto): Promise<SsoConnection> {
    const seen = await this.connections.get(context, id);
    if (body.issuer !== undefined && body.issuer !== seen.issuer) await checkIssuer(body.issuer, this.config);
    const proven = await this.prove(context, seen, body);
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(context.organizationId);
      if (body.jit_role_ids) await this.reach.demandRoles(tx, context, body.jit_role_ids);
      let before = seen;
      const patch = (row: SsoConnection): Patch<SsoConnection> =>
        patchOf((before = row), this.patchIn(id, body), this.clock);
      const row = await this.connections.update(context, id, patch, { tx });
      if (row.status === 'active') await this.keepOn(tx, context, { before, row, proven });
      else if (before.status === 'active') await this.switchOff(tx, context, id);
      return row;
    });
  }

  /** Ends its sessions. */
  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(context.organizationId);
      const guard = async (): Promise<void> => {
        await tx.query(SWITCH_OFF, [context.organizationId, id]);
        await this.switchOff(tx, context, id);
      };
      await this.connections.softDelete(context, id, { tx, guard });
    });
  }

  /** As it was, and switched off. @throws Problem `not_deleted`, `privilege_escalation` */
  restore(context: RequestContext, id: string): Promise<SsoConnection> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(context.organizationId);
      const guard = (_: unknown, row: SsoConnection): Promise<void> =>
        this.reach.demandPeople(tx, context, row);
      return this.connections.restore(context, id, { tx, guard });
    });
  }

  /** @throws Problem `not_soft_deleted` */
  purge(context: RequestContext, id: string): Promise<void> {
    return this.connections.purge(context, id);
  }

  /** Asks DNS and the provider about what the change makes active. @returns the domains that are proven */
  private async prove(
    context: RequestContext,
    seen: SsoConnection,
    body: UpdateSsoConnectionDto,
  ): Promise<ReadonlySet<string>> {
    if (seen.deletedAt || (body.status ?? seen.status) !== 'active') return new Set();
    const domains = asNames(body.domains ?? seen.domains);
    const held = await this.database.inOrganization(context, (tx) => this.claims.held(tx, seen.id));
    const open = domains.filter((domain) => !held.has(domain));
    if (open.length > 0) await this.proofs.demand(context.organizationId, domains, open);
    const { issuer = seen.issuer, client_id: clientId = seen.clientId } = body;
    const turnsOn = seen.status !== 'active';
    if (turnsOn || issuer !== seen.issuer) await this.demandProvider(seen, { issuer, clientId });
    return new Set(open);
  }

  private async demandProvider(of: PlaceOf, at: { issuer: string; clientId: string }): Promise<void> {
    try {
      await this.places.run(of, () =>
        this.providers.discover({ ...at, clientSecret: 'not used to read a document' }),
      );
    } catch (error) {
      if (error instanceof ProviderBusy) throw tooManyWait();
      if (!(error instanceof UnusableProvider)) throw error;
      const detail = `The issuer's discovery document does not serve: ${error.fault.replaceAll('_', ' ')}.`;
      throw Problem.validation([{ pointer: '/issuer', code: 'invalid_format', detail }]);
    }
  }

  /** The row's lock is held: what was asked about before may have been changed since. */
  private async keepOn(
    tx: WorkerTransaction,
    context: RequestContext,
    { before, row, proven }: { before: SsoConnection; row: SsoConnection; proven: ReadonlySet<string> },
  ): Promise<void> {
    const decided = DECIDES.some((field) => JSON.stringify(before[field]) !== JSON.stringify(row[field]));
    if (!decided) return;
    await this.reach.demandPeople(tx, context, row);
    const held = before.status === 'active' ? await this.claims.held(tx, row.id) : new Set<string>();
    const lacking = row.domains.filter((domain) => !held.has(domain) && !proven.has(domain));
    if (lacking.length > 0) throw this.proofs.unverified(context.organizationId, row.domains, lacking);
    await this.claims.claim(tx, row);
    await this.sessions.endOfConnection(tx, context, row.id, row.domains);
  }

  private async switchOff(tx: WorkerTransaction, context: RequestContext, id: string): Promise<void> {
    await this.claims.release(tx, id);
    await this.sessions.endOfConnection(tx, context, id);
  }

  private patchIn(id: string, body: UpdateSsoConnectionDto): Patch<SsoConnection> {
    const { name, issuer, client_id, client_secret, domains, enforced, jit, jit_role_ids, status } = body;
    return {
      ...(name === undefined ? {} : { name }),
      ...(issuer === undefined ? {} : { issuer }),
      ...(client_id === undefined ? {} : { clientId: client_id }),
      ...(client_secret === undefined ? {} : { clientSecret: this.seal.seal(id, client_secret) }),
      ...(domains === undefined ? {} : { domains: asNames(domains) }),
      ...(enforced === undefined ? {} : { enforced }),
      ...(jit === undefined ? {} : { jit }),
      ...(jit_role_ids === undefined ? {} : { jitRoleIds: jit_role_ids }),
      ...(status === undefined ? {} : { status }),
    };
  }
}

function patchOf(row: SsoConnection, patch: Patch<SsoConnection>, clock: Clock): Patch<SsoConnection> {
  const begins = isEnforced({ ...row, ...patch }) && !isEnforced(row);
  if (patch.status !== 'inactive' || row.status !== 'draft')
    return begins ? { ...patch, enforcedAt: clock.now() } : patch;
  const detail = 'A draft has never been switched on.';
  throw new Problem('invalid_state', { detail, members: { state: row.status } });
}

function isEnforced({ enforced, status }: { enforced: unknown; status: unknown }): boolean {
  return enforced === true && status === 'active';
}

/** As they are compared; what is none has been refused. */
function asNames(domains: readonly string[]): string[] {
  return domains.map((domain) => domainName(domain) ?? domain);
}

function tooManyWait(): Problem {
  return new Problem('rate_limited', {
    detail: 'Too many requests wait for the provider already.',
    headers: { 'Retry-After': '5' },
    members: { scope: 'organization' },
  });
}
