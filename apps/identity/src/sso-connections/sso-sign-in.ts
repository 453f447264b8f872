import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import * as oidc from 'openid-client';
import type { SignedIn } from '../vocabulary/signed-in.js';
import { SessionAuthentication } from '../sessions/session-authentication.js';
import { domainOf } from '../vocabulary/domain-name.js';
import { personIn, type ProviderPerson } from './provider-claims.js';
import { ProviderBusy, ProviderPlaces } from './provider-places.js';
import { failureIn, Providers, UnusableProvider } from './providers.js';
import { SsoArrivals, type ArrivalRequest } from './sso-arrivals.js';
import { SsoConnection } from './sso-connection.entity.js';
import { SsoRefusal } from '../vocabulary/sso-refusal.js';
import { SsoRequests, type AskedInteraction, type Freshness, type SsoRequest } from './sso-requests.js';
import { SSO_CONFIG, type SsoConfig } from './sso.config.js';

/** The connection that an address leads to. */
export interface SsoWayIn {
  readonly connectionId: string;
  /** Whose connection it is. */
  readonly organizationId: string;
  /** Whether there is no other way: no password, save of an `owner` of that organization with a second factor. */
  readonly enforced: boolean;
}

/** The browser in which somebody is sent to a provider, and what the provider is told. */
interface SsoBeginning {
  readonly browserHash: Buffer;
  readonly loginHint?: string;
  readonly anew?: Freshness;
}

/** What a browser brings back, and to the address of which connection. */
interface SsoCallback {
  readonly connectionId: string;
  readonly parameters: URLSearchParams;
}

/** Who came back, and to which interaction. */
export interface SsoArrival {
  readonly asked: AskedInteraction;
  readonly signedIn: SignedIn;
}

const ROUTE = `
SELECT c.id, c.organization_id, c.enforced
  FROM sso_domains d
  JOIN sso_connections c ON c.organization_id = d.organization_id AND c.id = d.connection_id
   AND c.status = 'active' AND c.deleted_at IS NULL
  JOIN organizations o ON o.organization_id = c.organization_id AND o.deleted_at IS NULL AND o.status = 'active'
 WHERE d.domain = $1`;
const ELSEWHERE = `
SELECT FROM memberships m
  JOIN organizations o ON o.organization_id = m.organization_id AND o.status = 'active' AND o.deleted_at IS NULL
 WHERE m.user_id = $1 AND m.organization_id <> $2 LIMIT 1`;

/** So far may a provider's clock be behind ours, or ahead of it. */
const CLOCKS_DIFFER_MS = 60_000;

/** Longer ones are no address, and no provider has to read them. */
const LONGEST_HINT = 254;

/** Signing in at a provider of an organization's own (identity.md §6): OpenID Connect, code flow with PKCE. */
@Injectable()
export class SsoSignIn {
  constructor(
    private readonly database: Database,
    private readonly authentication: SessionAuthentication,
    private readonly providers: Providers,
    private readonly places: ProviderPlaces,
    private readonly requests: SsoRequests,
    private readonly arrivals: SsoArrivals,
    private readonly clock: Clock,
    @Inject(SSO_CONFIG) private readonly config: SsoConfig,
  ) {}

  /** Where people with the address sign in; undefined where that is here. Whether somebody has it plays no part. */
  async forEmail(email: string): Promise<SsoWayIn | undefined> {
    const domain = domainOf(email);
    if (domain === undefined) return undefined;
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ id: string; organization_id: string; enforced: boolean }>(ROUTE, [domain]),
    );
    return row && { connectionId: row.id, organizationId: row.organization_id, enforced: row.enforced };
  }

  /**
   * Whether the user may sign in, or be sent a link, by what is kept here: where no organization demands its own sign-in
   * of the address, and, where one does, for the user's others alone.
   */
  async allowsPassword({
    userId,
    email,
  }: {
    readonly userId: string;
    readonly email: string;
  }): Promise<boolean> {
    return this.database.acrossOrganizations(async (tx) => {
      const closed = await this.authentication.closedToPassword(tx, userId, email);
      return closed === null || (await tx.query(ELSEWHERE, [userId, closed])).length > 0;
    });
  }

  /**
   * Where the browser goes. It comes back to the connection's redirect URI, and is taken for the same by `browserHash`:
   * of a secret that it has in a cookie.
   * @throws SsoRefusal `connection_off`, `provider_unavailable`
   */
  async begin(
    asked: AskedInteraction,
    connectionId: string,
    { browserHash, loginHint, anew }: SsoBeginning,
  ): Promise<URL> {
    const connection = await this.active(connectionId, asked.uid);
    const provider = await this.providerOf(connection, asked.uid);
    const secrets = await this.requests.begin(connection, asked, browserHash, anew);
    return oidc.buildAuthorizationUrl(provider, {
      response_type: 'code',
      redirect_uri: this.config.redirectUriOf(connection.id),
      scope: 'openid email profile',
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(secrets.codeVerifier),
      code_challenge_method: 'S256',
      ...anew,
      ...(loginHint === undefined ? {} : { login_hint: loginHint.slice(0, LONGEST_HINT) }),
    });
  }

  /**
   * The user whom the provider's answer means: take the request → check the browser → check the address → redeem the
   * code → find the user. Nothing of what comes is believed before the state is.
   * @throws SsoRefusal
   */
  async finish(
    callback: SsoCallback,
    browserHashIn: (uid: string) => Buffer | undefined,
    request: ArrivalRequest,
  ): Promise<SsoArrival> {
    const sent = await this.requests.take(callback.parameters.get('state') ?? '');
    if (!sent) throw new SsoRefusal('unknown_request');
    const { asked, isLate, connectionId } = sent;
    const { uid } = asked;
    const browserHash = browserHashIn(uid);
    if (!browserHash || !timingSafeEqual(browserHash, sent.browserHash))
      throw new SsoRefusal('other_browser');
    // A code that another provider has made would be shown to the one that this request was sent to.
    if (callback.connectionId !== connectionId) {
      log.warn(
        { connection: connectionId },
        'The answer to a sign-in came to the address of another connection',
      );
      throw new SsoRefusal('other_connection', uid);
    }
    if (isLate) throw new SsoRefusal('too_late', uid);
    const connection = await this.active(connectionId, uid);
    const person = await this.redeem(connection, sent, callback.parameters);
    demandFresh(person, sent);
    const userId = await this.arrivals.arrive(connection, person, request).catch((error: unknown) => {
      throw error instanceof SsoRefusal ? new SsoRefusal(error.reason, uid) : error;
    });
    const authenticatedAt = this.clock.now();
    const authTime = authTimeOf(person, sent, authenticatedAt);
    const said = authTime === undefined ? {} : { authTime };
    return { asked, signedIn: { userId, amr: ['fed'], authenticatedAt, ...said, connectionId } };
  }

  private async redeem(
    connection: SsoConnection,
    sent: SsoRequest,
    parameters: URLSearchParams,
  ): Promise<ProviderPerson> {
    const provider = await this.providerOf(connection, sent.asked.uid);
    const url = new URL(this.config.redirectUriOf(connection.id));
    url.search = parameters.toString();
    try {
      return await this.places.run(connection, () => personBy(provider, connection, url, sent));
    } catch (error) {
      throw refusalOf(error, sent.asked.uid, connection.id);
    }
  }

  private async active(id: string, uid: string): Promise<SsoConnection> {
    const connection = await this.database.acrossOrganizations((tx) =>
      tx.manager.findOne(SsoConnection, { where: { id, status: 'active' } }),
    );
    if (!connection || connection.deletedAt) throw new SsoRefusal('connection_off', uid);
    return connection;
  }

  private async providerOf(connection: SsoConnection, uid: string): Promise<oidc.Configuration> {
    try {
      return await this.providers.of(connection);
    } catch (error) {
      const isBusy = error instanceof ProviderBusy;
      if (!isBusy && !(error instanceof UnusableProvider)) throw error;
      log.warn(
        { connection: connection.id, fault: isBusy ? 'busy' : error.fault },
        'The provider of an SSO connection does not serve',
      );
      throw new SsoRefusal('provider_unavailable', uid, { cause: error });
    }
  }
}

/** Redeems the code, and asks who it was made for. @throws SsoRefusal, and what the library says of the answer */
async function personBy(
  provider: oidc.Configuration,
  { issuer, clientId }: SsoConnection,
  url: URL,
  { state, nonce, codeVerifier, asked }: SsoRequest,
): Promise<ProviderPerson> {
  const tokens = await oidc.authorizationCodeGrant(provider, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  // A token that names another party is not for us, even where we are its only audience; the library lets it pass.
  const isOurs = claims?.azp === undefined || claims.azp === clientId;
  if (!claims || !isOurs || !isSubject(claims.sub)) throw new SsoRefusal('answer_invalid', asked.uid);
  const person = personIn(issuer, claims.sub, claims);
  if (person.email !== undefined || !provider.serverMetadata().userinfo_endpoint) return person;
  // Some providers leave all but the subject out of the token, and tell the rest here.
  const further = await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub);
  return personIn(issuer, claims.sub, { ...claims, ...further });
}

/**
 * Holds the provider's answer against what was asked of it: some take no notice of `max_age` or `prompt=login`.
 * @throws SsoRefusal `not_fresh`
 */
function demandFresh({ authTime }: ProviderPerson, { freshSince, demandsTime, asked }: SsoRequest): void {
  if (freshSince === undefined) return;
  const isStale =
    authTime === undefined ? demandsTime : authTime.getTime() < freshSince.getTime() - CLOCKS_DIFFER_MS;
  if (isStale) throw new SsoRefusal('not_fresh', asked.uid);
}

/**
 * When the person authenticated there, as far as that is known. A clock that is a little ahead of ours makes nobody
 * authenticate later than they came; what lies further in the future says nothing.
 */
function authTimeOf({ authTime }: ProviderPerson, { askedLogin }: SsoRequest, now: Date): Date | undefined {
  if (authTime !== undefined && authTime < now) return authTime;
  const isAhead = authTime !== undefined && authTime.getTime() <= now.getTime() + CLOCKS_DIFFER_MS;
  // Who was asked for it anew, and says nothing, is taken at its word.
  return isAhead || askedLogin ? now : undefined;
}

/** As OpenID Connect Core 2 has it: 255 ASCII characters at most. */
function isSubject(text: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(text);
}

/** What of it is the network's, what the provider's own word, and what does not hold. */
function refusalOf(error: unknown, uid: string, connection: string): SsoRefusal {
  if (error instanceof SsoRefusal) return error;
  const failure = failureIn(error);
  const reason =
    failure !== undefined || error instanceof ProviderBusy
      ? ('provider_unavailable' as const)
      : error instanceof oidc.AuthorizationResponseError
        ? ('provider_refused' as const)
        : ('answer_invalid' as const);
  const { code, message } = error as { code?: unknown; message?: unknown };
  log.warn(
    { connection, reason, failure, code, said: message },
    'A sign-in by an SSO connection was refused',
  );
  return new SsoRefusal(reason, uid, { cause: error });
}
