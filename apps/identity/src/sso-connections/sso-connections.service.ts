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
import { DomainClaims, type HeldDomains } from './domain-claims.js';
import { domainName } from '../vocabulary/domain-name.js';
import { DomainProofs, type ProvenTo } from './domain-proofs.js';
import { checkIssuer } from './issuer-url.js';
import { NameServerPlaces, ProviderBusy, ProviderPlaces, type PlaceOf } from './provider-places.js';
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

/** What DNS has proven for a change, and whose provider it has named. */
interface Proven {
  readonly to: Omit<ProvenTo, 'organizationId'>;
  readonly domains: ReadonlySet<string>;
}

/** A connection before and after a change. */
interface Changed {
  readonly before: SsoConnection;
  readonly row: SsoConnection;
}

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
    private readonly nameServers: NameServerPlaces,
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

  /** Since when proofs are missing, by connection and domain. */
  held(context: RequestContext, ids: readonly string[]): Promise<Map<string, HeldDomains>> {
    return this.database.inOrganization(context, (tx) => this.claims.heldBy(tx, ids));
  }

  /** A draft: it leads nobody anywhere. @throws Problem `validation_failed`, `destination_not_allowed`, those of roles */
  async create(context: RequestContext, body: CreateSsoConnectionDto): Promise<SsoConnection> {
    const { name, protocol, issuer, client_id, client_secret, enforced = false, jit = false } = body;
    const id = newId();
    const of = { id, organizationId: context.organizationId };
    await this.waiting(this.nameServers, of, () => checkIssuer(issuer, this.config));
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
    const { issuer } = body;
    if (issuer !== undefined && issuer !== seen.issuer)
      await this.waiting(this.nameServers, seen, () => checkIssuer(issuer, this.config));
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
  ): Promise<Proven> {
    const to = { issuer: body.issuer ?? seen.issuer, clientId: body.client_id ?? seen.clientId };
    if (seen.deletedAt || (body.status ?? seen.status) !== 'active') return { to, domains: new Set() };
    const domains = asNames(body.domains ?? seen.domains);
    const turnsOn = seen.status !== 'active';
    const held = await this.database.inOrganization(context, (tx) => this.claims.held(tx, seen.id));
    // One whose proof was lost is asked about once somebody says so, and stands in the way of no other change.
    const stands = (domain: string): boolean =>
      held.has(domain) || (body.status === undefined && seen.domains.includes(domain));
    const open = domains.filter((domain) => turnsOn || !isSameProvider(seen, to) || !stands(domain));
    if (open.length > 0)
      await this.waiting(this.nameServers, seen, () => this.proofs.demand({ ...seen, ...to }, domains, open));
    if (turnsOn || to.issuer !== seen.issuer) await this.demandProvider(seen, to);
    return { to, domains: new Set(open) };
  }

  private async demandProvider(of: PlaceOf, at: { issuer: string; clientId: string }): Promise<void> {
    try {
      await this.waiting(this.places, of, () =>
        this.providers.discover({ ...at, clientSecret: 'not used to read a document' }),
      );
    } catch (error) {
      if (!(error instanceof UnusableProvider)) throw error;
      const detail = `The issuer's discovery document does not serve: ${error.fault.replaceAll('_', ' ')}.`;
      throw Problem.validation([{ pointer: '/issuer', code: 'invalid_format', detail }]);
    }
  }

  /** Each waits for seconds where nobody answers. @throws Problem `rate_limited` */
  private async waiting(places: ProviderPlaces, of: PlaceOf, work: () => Promise<unknown>): Promise<void> {
    try {
      await places.run(of, work);
    } catch (error) {
      throw error instanceof ProviderBusy ? tooManyWait() : error;
    }
  }

  /** The row's lock is held: what was asked about before may have been changed since. */
  private async keepOn(
    tx: WorkerTransaction,
    context: RequestContext,
    changed: Changed & { readonly proven: Proven },
  ): Promise<void> {
    const { before, row } = changed;
    const decided = DECIDES.some((field) => JSON.stringify(before[field]) !== JSON.stringify(row[field]));
    const proven = isSameProvider(row, changed.proven.to) ? changed.proven.domains : new Set<string>();
    if (!decided && proven.size === 0) return;
    await this.reach.demandPeople(tx, context, row);
    const held: HeldDomains = goesOn(changed) ? await this.claims.held(tx, row.id) : new Map<string, null>();
    const domains = row.domains.filter((domain) => held.has(domain) || proven.has(domain));
    // A proof that was lost before is not asked for anew by every change.
    const lost = goesOn(changed) ? before.domains : [];
    const lacking = row.domains.filter((domain) => !domains.includes(domain) && !lost.includes(domain));
    if (lacking.length > 0) throw this.proofs.unverified(row, row.domains, lacking);
    await this.claims.claim(tx, row, { domains, proven: domains.filter((domain) => proven.has(domain)) });
    await this.sessions.endOfConnection(tx, context, row.id, domains);
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
  // Once: who confirms a factor while it is off for a moment has proven no more than the password.
  const begins = isEnforced({ ...row, ...patch }) && row.enforcedAt === null;
  if (patch.status !== 'inactive' || row.status !== 'draft')
    return begins ? { ...patch, enforcedAt: clock.now() } : patch;
  const detail = 'A draft has never been switched on.';
  throw new Problem('invalid_state', { detail, members: { state: row.status } });
}

/** Whether what proved a domain before proves it still. */
function goesOn({ before, row }: Changed): boolean {
  return before.status === 'active' && isSameProvider(before, row);
}

function isSameProvider(one: Proven['to'], other: Proven['to']): boolean {
  return one.issuer === other.issuer && one.clientId === other.clientId;
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
    detail: 'Too many requests wait for the provider, or for name servers, already.',
    headers: { 'Retry-After': '5' },
    members: { scope: 'organization' },
  });
}
