import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  hashApiKey,
  newApiKey,
  type Acceptance,
  type ChangesPage,
  type KeyUse,
  type MakerClaims,
  type ResolveRequest,
  type ResolvedCredential,
  type Restriction,
} from '@customer-platform/authorization';
import { newId, type RetentionDays, type RetentionPage } from '@customer-platform/database';
import { isPermission, type Permission } from '@customer-platform/permissions';
import { anOrganization } from './fixtures.js';

/** A credential to be issued. */
interface TestKey {
  organizationId: string;
  permissions: readonly Permission[];
  settings?: Record<string, unknown>;
  /** The organization directly below the root that it belongs to, told with the credential. */
  tenant?: string;
  restriction?: Restriction;
  principal?: ResolvedCredential['principal'];
  /** The user who acts as the principal. */
  impersonatorId?: string;
}

/** What the registry knows of an organization without a key. */
interface TestOrganizationState {
  settings?: Record<string, unknown>;
  suspended?: boolean;
  /** The organization directly below the root that it belongs to. */
  tenant?: string;
}

/** Whether a user belongs to an organization, as identity tells other modules; `failing`: it cannot tell. */
type TestMembership = 'member' | 'deleted' | 'none' | 'failing';

interface IssuedKey extends TestKey {
  id: string;
  issuedAt: number;
  revokedAt?: number;
}

const UNKNOWN = { status: 404, answer: { code: 'not_found', reason: 'unknown' } };

/**
 * Identity's internal interface (identity.md §8) as an HTTP server of a test: what libs/authorization asks, answered
 * from memory. Revocation, an outage and a slow registry can be played.
 */
export class TestRegistry {
  /** What the modules reported of used keys. */
  readonly uses: KeyUse[] = [];
  private readonly keys = new Map<string, IssuedKey>();
  private readonly organizations = new Map<string, TestOrganizationState>();
  private readonly memberships = new Map<string, TestMembership>();
  private readonly epochs = new Map<string, number>();
  private readonly links = new Map<string, object>();
  private readonly changes: { organization_id: string; epoch: number }[] = [];
  private readonly server: Server;
  private down = false;

  private constructor() {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  /** Listens on a free port. */
  static async start(): Promise<TestRegistry> {
    const registry = new TestRegistry();
    await new Promise<void>((resolve) => registry.server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  /** `IDENTITY_INTERNAL_URL` of the modules under test. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Issues a key with these permissions: `cpk_live_…`. */
  key(key: TestKey): string {
    const text = newApiKey();
    this.keys.set(hashApiKey(text), { ...key, id: newId(), issuedAt: Date.now() });
    this.raise(key.organizationId);
    return text;
  }

  /** Whether an outage is being played. */
  get isDown(): boolean {
    return this.down;
  }

  /** The id of an issued key: its principal's, unless another was given. */
  idOf(key: string): string {
    return this.issued(key).id;
  }

  /** Ends a key now. */
  revoke(key: string): void {
    const issued = this.issued(key);
    issued.revokedAt = Date.now();
    this.raise(issued.organizationId);
  }

  /** When a key was ended, in milliseconds since the epoch: what was accepted from then on was not. */
  revokedAt(key: string): number {
    return this.issued(key).revokedAt ?? Infinity;
  }

  /** Replaces what a key may do. */
  permit(key: string, permissions: readonly Permission[]): void {
    const issued = this.issued(key);
    issued.permissions = permissions;
    this.raise(issued.organizationId);
  }

  /** Makes an organization known by itself, or changes it: its settings and whether it is suspended. */
  organization(id: string, state: TestOrganizationState = {}): void {
    this.organizations.set(id, state);
    this.raise(id);
  }

  /** Makes a user a member of an organization, or no longer one. */
  membership(organizationId: string, userId: string, state: TestMembership = 'member'): void {
    this.memberships.set(`${organizationId} ${userId}`, state);
  }

  /** What identity answers of `<kind>/<id>`, an invitation for one; without `answer` it leads nowhere any more. */
  link(
    kindAndId: string,
    answer?: {
      address: string;
      link: string | null;
      organization_name: string;
      platform_organization_id: string;
    },
  ): void {
    const route = `GET /internal/links/${kindAndId}`;
    if (answer) this.links.set(route, answer);
    else this.links.delete(route);
  }

  /** From now on every call is cut off, as when identity has died; `false` ends it. */
  outage(down: boolean): void {
    this.down = down;
    if (down) this.server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private issued(key: string): IssuedKey {
    const issued = this.keys.get(hashApiKey(key));
    if (!issued) throw new Error('This registry has not issued that key');
    return issued;
  }

  private raise(organizationId: string): void {
    const epoch = (this.epochs.get(organizationId) ?? 0) + 1;
    this.epochs.set(organizationId, epoch);
    this.changes.push({ organization_id: organizationId, epoch });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.down) {
      request.socket.destroy();
      return;
    }
    const url = new URL(request.url ?? '/', this.url);
    const body = await readJson(request);
    const { status, answer } = this.answer(`${request.method} ${url.pathname}`, body, url.searchParams);
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, { 'content-type': type }).end(JSON.stringify(answer));
  }

  private answer(route: string, body: unknown, query: URLSearchParams): { status: number; answer: unknown } {
    const link = this.links.get(route);
    if (link) return { status: 200, answer: link };
    switch (route) {
      case 'POST /internal/authz/resolve':
        return this.resolve(body as ResolveRequest);
      case 'GET /internal/authz/changes':
        return { status: 200, answer: this.changesSince(query.get('cursor')) };
      case 'GET /internal/retention':
        return { status: 200, answer: this.retentionPage(query.get('after')) };
      case 'POST /internal/authz/confirm':
        return { status: 200, answer: this.confirm((body as { acceptances: Acceptance[] }).acceptances) };
      case 'POST /internal/memberships/check':
        return this.membershipOf(body as Record<string, string>);
      case 'POST /internal/memberships/address':
        return this.addressOf(body as Record<string, string>);
      case 'GET /internal/authz/keys':
        return { status: 200, answer: { keys: [] } };
      case 'POST /internal/authz/usage':
        this.uses.push(...(body as { uses: KeyUse[] }).uses);
        return { status: 200, answer: {} };
      default:
        return { status: 404, answer: { code: 'route_not_found' } };
    }
  }

  /** A member is written to at an address that tells their id. */
  private addressOf(question: Record<string, string>): { status: number; answer: unknown } {
    const { status, answer } = this.membershipOf(question);
    if (status !== 200) return { status, answer };
    const isMember = (answer as { state: string }).state === 'member';
    return { status, answer: { address: isMember ? `${question['user_id']}@staff.example.com` : null } };
  }

  private membershipOf(question: Record<string, string>): { status: number; answer: unknown } {
    const { organization_id: organizationId = '', user_id: userId = '' } = question;
    const state = this.memberships.get(`${organizationId} ${userId}`) ?? 'none';
    return state === 'failing' ? { status: 500, answer: {} } : { status: 200, answer: { state } };
  }

  private resolve(request: ResolveRequest): { status: number; answer: unknown } {
    if ('session_id' in request || 'client_id' in request) return UNKNOWN; // it knows keys only
    if ('maker_id' in request) return this.credentialOf(this.madeBy(request));
    if ('organization_id' in request && request.api_key_id === undefined)
      return this.resolveOrganization(request.organization_id);
    const key =
      'key_hash' in request
        ? this.keys.get(request.key_hash)
        : [...this.keys.values()].find(
            ({ id, organizationId }) =>
              id === request.api_key_id && organizationId === request.organization_id,
          );
    return this.credentialOf(key);
  }

  /** A user is known by the key that was issued with them as principal. */
  private madeBy({ organization_id, maker_type, maker_id }: MakerClaims): IssuedKey | undefined {
    return [...this.keys.values()].find(({ id, organizationId, principal = { type: 'api_key', id } }) => {
      return organizationId === organization_id && principal.type === maker_type && principal.id === maker_id;
    });
  }

  private credentialOf(key: IssuedKey | undefined): { status: number; answer: unknown } {
    if (!key || key.revokedAt !== undefined) return UNKNOWN;
    const principal = key.principal ?? { type: 'api_key', id: key.id };
    const suspended = key.restriction === 'organization_suspended';
    const { settings } = anOrganization();
    const credential: ResolvedCredential = {
      principal,
      actor: {
        ...principal,
        ...(key.impersonatorId === undefined ? {} : { impersonator_id: key.impersonatorId }),
      },
      organization: {
        id: key.organizationId,
        status: suspended ? 'suspended' : 'active',
        settings: { ...settings, ...key.settings },
        ...(key.tenant === undefined ? {} : { tenant_id: key.tenant }),
      },
      permissions: [...key.permissions],
      restriction: key.restriction ?? null,
      epoch: this.epochs.get(key.organizationId) ?? 0,
      expires_in_ms: null,
    };
    return { status: 200, answer: credential };
  }

  private resolveOrganization(id: string): { status: number; answer: unknown } {
    const known = this.organizations.get(id);
    if (!known) return UNKNOWN;
    const credential: ResolvedCredential = {
      principal: { type: 'organization', id },
      actor: { type: 'organization', id },
      organization: {
        id,
        status: known.suspended ? 'suspended' : 'active',
        settings: { ...anOrganization().settings, ...known.settings },
        ...(known.tenant === undefined ? {} : { tenant_id: known.tenant }),
      },
      permissions: [],
      restriction: known.suspended ? 'organization_suspended' : null,
      epoch: this.epochs.get(id) ?? 0,
      expires_in_ms: null,
    };
    return { status: 200, answer: credential };
  }

  /** Two at a time, so that whoever asks has to go on. */
  private retentionPage(after: string | null): RetentionPage {
    const told = [...this.organizations]
      .flatMap(([id, { settings }]) => {
        const retention = settings?.['retention'] as RetentionDays | undefined;
        return retention ? [{ organization_id: id, retention }] : [];
      })
      .sort((a, b) => (a.organization_id < b.organization_id ? -1 : 1))
      .filter(({ organization_id: id }) => after === null || id > after);
    const organizations = told.slice(0, 2);
    return { organizations, next: told.length > 2 ? (organizations.at(-1)?.organization_id ?? null) : null };
  }

  private changesSince(cursor: string | null): ChangesPage {
    const from = cursor === null ? this.changes.length : Number(cursor);
    return { cursor: String(this.changes.length), reset: false, changes: this.changes.slice(from) };
  }

  private confirm(acceptances: Acceptance[]): { valid: boolean[] } {
    const valid = acceptances.map(({ key_hash, accepted_at, permission }) => {
      const key = this.keys.get(key_hash);
      if (!key || (permission && !(isPermission(permission) && key.permissions.includes(permission))))
        return false;
      return key.revokedAt === undefined || Date.parse(accepted_at) < key.revokedAt;
    });
    return { valid };
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? undefined : JSON.parse(text);
}
