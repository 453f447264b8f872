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

/** A well-formed credential that grants nothing: never issued, revoked, ended, or its organization is gone. */
export class UnknownCredential extends Error {
  override readonly name = 'UnknownCredential';
  constructor(
    /** `expired`: it was valid until its own end. */
    readonly reason: 'unknown' | 'expired',
  ) {
    super(`The credential is ${reason}`);
  }
}

/** The registry did not answer in time, or not with an answer. */
export class RegistryUnavailable extends Error {
  override readonly name = 'RegistryUnavailable';
}

/** Look-ups of credentials seen good before, and of all others: neither waits for a connection of the other. */
export type ResolveLane = 'known' | 'strangers';

/**
 * Where a module learns what credentials may do: identity, over its internal interface; identity itself asks its own
 * database. Every method throws {@link RegistryUnavailable} when there is no answer within `timeoutMs`.
 */
export abstract class AuthorizationSource {
  /** @throws UnknownCredential */
  abstract resolve(keyHash: string, timeoutMs: number, lane?: ResolveLane): Promise<ResolvedCredential>;
  /** As `resolve`, by claims; whether they are true is the caller's affair. @throws UnknownCredential */
  abstract resolveTenant(
    tenant: TenantClaims,
    timeoutMs: number,
    lane?: ResolveLane,
  ): Promise<ResolvedCredential>;
  /** As `resolve`, by claims that the caller has verified. @throws UnknownCredential */
  abstract resolveSession(session: SessionClaims, timeoutMs: number): Promise<ResolvedCredential>;
  /** As `resolve`, by claims of a client's own token that the caller has verified. @throws UnknownCredential */
  abstract resolveClient(client: ClientClaims, timeoutMs: number): Promise<ResolvedCredential>;
  /** As `resolve`, of who made something that goes on without them. @throws UnknownCredential */
  abstract resolveMaker(maker: MakerClaims, timeoutMs: number): Promise<ResolvedCredential>;
  /** What verifies access tokens. */
  abstract signingKeys(timeoutMs: number): Promise<SigningKeySet>;
  /** Organizations whose epoch rose since `cursor`; repeats are possible, omissions are not. */
  abstract changes(cursor: string | undefined, timeoutMs: number): Promise<ChangesPage>;
  /** For each acceptance, whether the key was valid at that time. */
  abstract confirm(acceptances: readonly Acceptance[], timeoutMs?: number): Promise<boolean[]>;
  /** Notes when keys were last used; earlier than known is ignored. */
  abstract reportUsage(uses: readonly KeyUse[], timeoutMs?: number): Promise<void>;
}
