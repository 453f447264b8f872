import { Inject, Injectable } from '@nestjs/common';
import { Clock, type KeySeal } from '@customer-platform/database';
import { OutboundError, pinnedFetch, type FetchFailure, type PinnedFetch } from '@customer-platform/outbound';
import * as oidc from 'openid-client';
import { CLIENT_SECRET_SEAL } from './client-secret-seal.js';
import { ProviderPlaces } from './provider-places.js';
import type { SsoConnection } from './sso-connection.entity.js';
import { SSO_CONFIG, type SsoConfig } from './sso.config.js';

/** For each request to a provider, all of it. */
const TIMEOUT_MS = 5_000;
/** A discovery document has some kilobytes, and the keys of the largest providers some dozens. */
const MOST_BYTES = 256 * 1024;
/** Providers announce new endpoints and algorithms days ahead. Keys are looked up anew when a token names an unknown one. */
const KEPT_MS = 10 * 60_000;
/** Who asks a provider that is away is not made to wait for it each time. */
const FAILURE_KEPT_MS = 30_000;
const MOST_KEPT = 1_000;

/** Neither `none` nor a signature by the client secret, which whoever has the secret could make. */
const ALGORITHMS: ReadonlySet<string> = new Set(
  ['RS', 'PS', 'ES']
    .flatMap((kind) => ['256', '384', '512'].map((bits) => kind + bits))
    .concat('EdDSA', 'Ed25519'),
);

/** Why a provider cannot be used, in words for who configures it. */
type ProviderFault =
  | FetchFailure
  | 'no_discovery_document'
  | 'issuer_differs'
  | 'endpoint_missing'
  | 'algorithm_not_supported'
  | 'client_authentication_not_supported';

/** A provider whose documents cannot be read or do not serve. */
export class UnusableProvider extends Error {
  constructor(
    readonly fault: ProviderFault,
    options?: ErrorOptions,
  ) {
    super(`the provider of a connection cannot be used: ${fault}`, options);
    this.name = 'UnusableProvider';
  }
}

/** What of a connection says which provider it is and who the platform is there. */
type ProviderOf = Pick<
  SsoConnection,
  'id' | 'organizationId' | 'issuer' | 'clientId' | 'clientSecret' | 'updatedAt'
>;

interface Kept {
  readonly version: string;
  readonly until: number;
  readonly provider: Promise<oidc.Configuration>;
  /** Whether its document has not come yet. */
  readonly awaited: boolean;
}

/**
 * The providers of connections as their discovery documents describe them. What a document says is a tenant's word: it
 * is read within bounds from a public address, and of it only what the flow needs is kept.
 */
@Injectable()
export class Providers {
  private readonly kept = new Map<string, Kept>();
  private readonly fetch: PinnedFetch;

  constructor(
    private readonly clock: Clock,
    @Inject(SSO_CONFIG) private readonly config: SsoConfig,
    @Inject(CLIENT_SECRET_SEAL) private readonly seal: KeySeal,
    private readonly places: ProviderPlaces,
  ) {
    this.fetch = pinnedFetch({
      timeoutMs: TIMEOUT_MS,
      maxAnswerBytes: MOST_BYTES,
      allowLoopback: config.local,
      ports: config.outboundPorts,
    });
  }

  /**
   * Of a connection in its present version; many who ask at once ask the provider once. Who waits for it has a place.
   * @throws UnusableProvider, ProviderBusy
   */
  async of(connection: ProviderOf): Promise<oidc.Configuration> {
    const version = connection.updatedAt.toISOString();
    const known = this.kept.get(connection.id);
    const serves = known?.version === version && known.until > this.now();
    if (serves && !known.awaited) return known.provider;
    return this.places.run(connection, () => (serves ? known.provider : this.lookUp(connection, version)));
  }

  private async lookUp(connection: ProviderOf, version: string): Promise<oidc.Configuration> {
    const { id, issuer, clientId, clientSecret } = connection;
    const provider = this.discover({ issuer, clientId, clientSecret: this.seal.open(id, clientSecret) });
    this.keep(id, { version, until: this.now() + KEPT_MS, provider, awaited: true });
    // By the clock of when it is known: a provider that hangs has taken longer than its failure would be kept.
    const settle = (keptMs: number): void => {
      if (this.kept.get(id)?.provider !== provider) return;
      this.keep(id, { version, until: this.now() + keptMs, provider, awaited: false });
    };
    provider.then(
      () => settle(KEPT_MS),
      () => settle(FAILURE_KEPT_MS),
    );
    return provider;
  }

  private now(): number {
    return this.clock.now().getTime();
  }

  /** Reads the discovery document of an issuer, whose name in it must be the very same text. @throws UnusableProvider */
  async discover(given: {
    issuer: string;
    clientId: string;
    clientSecret: string;
  }): Promise<oidc.Configuration> {
    const found = await this.read(given.issuer, given.clientId);
    const metadata = usable(found.serverMetadata(), given.issuer, this.config.local);
    const authentication = authenticationBy(metadata)(given.clientSecret);
    return this.prepared(new oidc.Configuration(metadata, given.clientId, {}, authentication));
  }

  private async read(issuer: string, clientId: string): Promise<oidc.Configuration> {
    try {
      return await oidc.discovery(new URL(issuer), clientId, undefined, oidc.None(), {
        [oidc.customFetch]: this.fetch,
        timeout: TIMEOUT_MS / 1_000,
        execute: this.config.local ? [oidc.allowInsecureRequests] : [],
      });
    } catch (error) {
      throw new UnusableProvider(failureIn(error) ?? 'no_discovery_document', { cause: error });
    }
  }

  /** Signatures are checked although the token comes from the provider's own endpoint: `none` is no signature. */
  private prepared(provider: oidc.Configuration): oidc.Configuration {
    provider[oidc.customFetch] = this.fetch;
    provider.timeout = TIMEOUT_MS / 1_000;
    oidc.enableNonRepudiationChecks(provider);
    // Plain http reaches this very machine alone, and in local mode only: the fetch sees to that.
    if (this.config.local) oidc.allowInsecureRequests(provider);
    return provider;
  }

  private keep(id: string, kept: Kept): void {
    this.kept.delete(id);
    this.kept.set(id, kept);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_KEPT && oldest !== undefined) this.kept.delete(oldest);
  }
}

/** Why a request of openid-client brought nothing, where it is the way there that failed. */
export function failureIn(error: unknown): FetchFailure | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof OutboundError) return each.failure;
    if (each.name === 'TimeoutError') return 'timeout';
  }
  return undefined;
}

/** Only what the flow needs, and only what may be believed. */
function usable(given: oidc.ServerMetadata, issuer: string, local: boolean): oidc.ServerMetadata {
  // Not the same address: the same text. What ID tokens are held against is this.
  if (given.issuer !== issuer) throw new UnusableProvider('issuer_differs');
  const named = given.id_token_signing_alg_values_supported ?? ['RS256'];
  const algorithms = Array.isArray(named) ? named.filter((each) => ALGORITHMS.has(each)) : [];
  if (algorithms.length === 0) throw new UnusableProvider('algorithm_not_supported');
  const { userinfo_endpoint: userinfo } = given;
  return {
    issuer,
    authorization_endpoint: endpoint(given.authorization_endpoint, local),
    token_endpoint: endpoint(given.token_endpoint, local),
    jwks_uri: endpoint(given.jwks_uri, local),
    ...(userinfo === undefined ? {} : { userinfo_endpoint: endpoint(userinfo, local) }),
    id_token_signing_alg_values_supported: algorithms,
    ...pick(given, [
      'authorization_response_iss_parameter_supported',
      'code_challenge_methods_supported',
      'token_endpoint_auth_methods_supported',
    ]),
  };
}

/** People's browsers are sent to one of them: it must be no `javascript:`, nor lead through plain http. */
function endpoint(text: unknown, local: boolean): string {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'https:' || (local && url?.protocol === 'http:');
  if (!url || !isWeb || url.username !== '' || url.password !== '')
    throw new UnusableProvider('endpoint_missing');
  return url.href;
}

/** By the form where it is taken: how a secret is written in the header is read in different ways. */
function authenticationBy(metadata: oidc.ServerMetadata): (secret: string) => oidc.ClientAuth {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  if (methods.includes('client_secret_post')) return (secret) => oidc.ClientSecretPost(secret);
  if (methods.includes('client_secret_basic')) return (secret) => oidc.ClientSecretBasic(secret);
  throw new UnusableProvider('client_authentication_not_supported');
}

function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Partial<Pick<T, K>> {
  const present = names.filter((name) => from[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, from[name]])) as Partial<Pick<T, K>>;
}
