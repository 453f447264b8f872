import { Problem } from '@customer-platform/problem-json';
import {
  AuthorizationSource,
  RegistryUnavailable,
  UnknownCredential,
  type ResolveLane,
} from './authorization-source.js';
import { InternalCallRefused, type InternalCall, type InternalClient } from './internal-client.js';
import type {
  Acceptance,
  ChangesPage,
  ClientClaims,
  ConfirmAnswer,
  ConfirmRequest,
  KeyUse,
  MakerClaims,
  ResolvedCredential,
  ResolveRequest,
  SessionClaims,
  SigningKeySet,
  TenantClaims,
  UsageRequest,
} from './protocol.js';

/** Confirming and reporting are nobody's request. */
const PATIENCE_MS = 5_000;

/** Asks identity over its internal listener (identity.md §8). */
export class HttpAuthorizationSource extends AuthorizationSource {
  constructor(private readonly client: InternalClient) {
    super();
  }

  override resolve(keyHash: string, timeoutMs: number, lane?: ResolveLane): Promise<ResolvedCredential> {
    return this.askFor({ key_hash: keyHash }, timeoutMs, lane);
  }

  override resolveTenant(
    tenant: TenantClaims,
    timeoutMs: number,
    lane?: ResolveLane,
  ): Promise<ResolvedCredential> {
    return this.askFor(tenant, timeoutMs, lane);
  }

  override resolveSession(session: SessionClaims, timeoutMs: number): Promise<ResolvedCredential> {
    return this.askFor(session, timeoutMs);
  }

  override resolveClient(client: ClientClaims, timeoutMs: number): Promise<ResolvedCredential> {
    return this.askFor(client, timeoutMs);
  }

  override resolveMaker(maker: MakerClaims, timeoutMs: number): Promise<ResolvedCredential> {
    return this.askFor(maker, timeoutMs);
  }

  override signingKeys(timeoutMs: number): Promise<SigningKeySet> {
    return this.ask({ method: 'GET', path: '/internal/authz/keys', timeoutMs, lane: 'keys' });
  }

  override changes(cursor: string | undefined, timeoutMs: number): Promise<ChangesPage> {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    // A lane of its own: a flood of look-ups must not make the feed late, for late means more look-ups.
    return this.ask({ method: 'GET', path: `/internal/authz/changes${query}`, timeoutMs, lane: 'feed' });
  }

  override async confirm(acceptances: readonly Acceptance[], timeoutMs = PATIENCE_MS): Promise<boolean[]> {
    const body: ConfirmRequest = { acceptances: [...acceptances] };
    const answer = await this.ask<ConfirmAnswer>({
      method: 'POST',
      path: '/internal/authz/confirm',
      body,
      timeoutMs,
    });
    return answer.valid;
  }

  override async reportUsage(uses: readonly KeyUse[], timeoutMs = PATIENCE_MS): Promise<void> {
    const body: UsageRequest = { uses: [...uses] };
    await this.ask({ method: 'POST', path: '/internal/authz/usage', body, timeoutMs });
  }

  private async askFor(
    body: ResolveRequest,
    timeoutMs: number,
    lane: ResolveLane = 'known',
  ): Promise<ResolvedCredential> {
    const call: InternalCall = {
      method: 'POST',
      path: '/internal/authz/resolve',
      body,
      timeoutMs,
      lane: `resolve ${lane}`,
    };
    try {
      return await this.client.call<ResolvedCredential>('identity', call);
    } catch (error) {
      if (error instanceof InternalCallRefused && error.status === 404) {
        throw new UnknownCredential(error.problem['reason'] === 'expired' ? 'expired' : 'unknown');
      }
      throw silenceOf(error);
    }
  }

  private async ask<T>(call: InternalCall): Promise<T> {
    try {
      return await this.client.call<T>('identity', call);
    } catch (error) {
      throw silenceOf(error);
    }
  }
}

/** Everything but an answer is silence: a registry that refuses us (a wrong service key) permits nothing either. */
function silenceOf(error: unknown): Error {
  const silent = error instanceof Problem || error instanceof InternalCallRefused;
  return silent ? new RegistryUnavailable('The registry did not answer', { cause: error }) : (error as Error);
}
