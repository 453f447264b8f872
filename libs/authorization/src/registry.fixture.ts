import { Problem } from '@customer-platform/problem-json';
import {
  AuthorizationSource,
  RegistryUnavailable,
  UnknownCredential,
  type ResolveLane,
} from './authorization-source.js';
import type {
  Acceptance,
  ChangesPage,
  ClientClaims,
  KeyUse,
  MakerClaims,
  ResolvedCredential,
  SessionClaims,
  SigningKeySet,
  TenantClaims,
} from './protocol.js';

/** A registry in memory whose answers a test can hold back, cut off and change, call by call. */
export class FixtureRegistry extends AuthorizationSource {
  readonly credentials = new Map<string, ResolvedCredential | 'expired'>();
  readonly uses: KeyUse[] = [];
  readonly keys: SigningKeySet['keys'] = [];
  resolves = 0;
  readonly resolvesOn = { known: 0, strangers: 0 };
  keyReads = 0;
  reads = 0;
  down = false;
  /** Awaited by a resolve after it has read, before it answers: a fill that is paused on its way back. */
  answerAfter: Promise<void> | undefined;
  private readonly log: ChangesPage['changes'] = [];
  private incarnation = 1;

  override async resolve(
    keyHash: string,
    _timeoutMs?: number,
    lane: ResolveLane = 'known',
  ): Promise<ResolvedCredential> {
    this.resolves += 1;
    this.resolvesOn[lane] += 1;
    this.demandUp();
    const found = this.credentials.get(keyHash);
    const read = typeof found === 'object' ? structuredClone(found) : found;
    await this.answerAfter;
    if (read === undefined) throw new UnknownCredential('unknown');
    if (read === 'expired') throw new UnknownCredential('expired');
    return read;
  }

  /** Credentials of tenants stand beside the keys, by organization and id of the key. */
  override resolveTenant(
    { organization_id: organization, api_key_id: key }: TenantClaims,
    timeoutMs?: number,
    lane?: ResolveLane,
  ) {
    return this.resolve(`${organization} ${key ?? ''}`.trim(), timeoutMs, lane);
  }

  /** Sessions too, by their id. */
  override resolveSession({ session_id: id }: SessionClaims) {
    return this.resolve(id);
  }

  /** Clients by theirs. */
  override resolveClient({ client_id: id }: ClientClaims) {
    return this.resolve(id);
  }

  /** Makers too, by theirs. */
  override resolveMaker({ maker_id: id }: MakerClaims) {
    return this.resolve(id);
  }

  override signingKeys(): Promise<SigningKeySet> {
    this.keyReads += 1;
    this.demandUp();
    return Promise.resolve({ keys: this.keys });
  }

  override async changes(cursor: string | undefined): Promise<ChangesPage> {
    this.reads += 1;
    this.demandUp();
    const [incarnation, from] = (cursor ?? '').split(':').map(Number);
    const reset = cursor !== undefined && incarnation !== this.incarnation;
    const start = cursor === undefined || reset ? this.log.length : (from ?? 0);
    return Promise.resolve({
      cursor: `${String(this.incarnation)}:${String(this.log.length)}`,
      reset,
      changes: this.log.slice(start),
    });
  }

  override confirm(acceptances: readonly Acceptance[]): Promise<boolean[]> {
    this.demandUp();
    return Promise.resolve(acceptances.map(({ key_hash: hash }) => this.credentials.has(hash)));
  }

  override reportUsage(uses: readonly KeyUse[]): Promise<void> {
    this.demandUp();
    this.uses.push(...uses);
    return Promise.resolve();
  }

  /** Issues or changes a credential: the organization's epoch rises with it. */
  put(keyHash: string, credential: ResolvedCredential): void {
    const epoch = this.raise(credential.organization.id);
    this.credentials.set(keyHash, { ...credential, epoch });
    for (const other of this.credentials.values()) {
      if (other !== 'expired' && other.organization.id === credential.organization.id) other.epoch = epoch;
    }
  }

  revoke(keyHash: string): void {
    const credential = this.credentials.get(keyHash);
    this.credentials.delete(keyHash);
    if (typeof credential === 'object') this.raise(credential.organization.id);
  }

  /** The database has been replaced: its epochs begin anew. */
  replace(): void {
    this.incarnation += 1;
    for (const credential of this.credentials.values()) if (credential !== 'expired') credential.epoch = 1;
  }

  private raise(organizationId: string): number {
    const former = this.log.findLast(({ organization_id: id }) => id === organizationId)?.epoch ?? 0;
    this.log.push({ organization_id: organizationId, epoch: former + 1 });
    return former + 1;
  }

  private demandUp(): void {
    if (this.down) throw new RegistryUnavailable('The registry is down');
  }
}

/** A clock that stands still until it is told. */
export class FixtureClock {
  constructor(private at = 1_000_000) {}

  now(): number {
    return this.at;
  }

  pass(milliseconds: number): void {
    this.at += milliseconds;
  }
}

/** What the registry answers for a key of an organization. */
export function aCredential(overrides: Partial<ResolvedCredential> = {}): ResolvedCredential {
  return {
    principal: { type: 'api_key', id: '0190aaaa-0000-7000-8000-000000000001' },
    actor: { type: 'api_key', id: '0190aaaa-0000-7000-8000-000000000001' },
    organization: { id: '0190bbbb-0000-7000-8000-000000000001', status: 'active', settings: {} },
    permissions: ['core.events.write'],
    restriction: null,
    epoch: 0,
    expires_in_ms: null,
    ...overrides,
  };
}

/** What a call was answered: `permitted`, or the code of the problem. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'permitted';
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}
