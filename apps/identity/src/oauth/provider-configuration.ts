import type { JWK as StoredJwk } from 'jose';
import type { Client, Configuration, KoaContextWithOIDC, RefreshToken } from 'oidc-provider';
import { ACCESS_TOKEN_LIFE_S } from '../sessions/access-token.issuing.js';
import { CLAIMS, type Accounts } from './accounts.js';
import { API_SCOPES } from '../vocabulary/api-scopes.js';
import { isRefreshable, OWN_METADATA, platformClient } from './client-metadata.js';
import { ID_TOKEN_ALGORITHM, ID_TOKEN_LIFE_S } from './id-tokens.js';
import type { ProviderAdapters } from './provider-adapter.js';
import type { ProviderPages } from './provider-pages.js';
import { ROUTES } from './routes.js';
import { cookieNames } from './sign-in-cookies.js';
import { demandApiScopes, demandShort, keepSilentOffline } from './sign-in-parameters.js';
import type { SignInPolicy } from './sign-in-policy.js';

const CODE_LIFE_S = 60;
/** A sign-in that nobody ends is forgotten after so long. */
const SIGN_IN_S = 3_600;
const DAY_S = 86_400;

/** What a provider is made of. */
interface ProviderParts {
  readonly adapters: ProviderAdapters;
  readonly accounts: Accounts;
  readonly policy: SignInPolicy;
  readonly pages: ProviderPages;
  /** The keys of ID tokens, the one that signs first. */
  readonly keys: readonly StoredJwk[];
  readonly issuer: string;
}

/** The provider's configuration: what is not asked for by identity.md §7 is off. */
export function providerConfiguration(parts: ProviderParts): Configuration {
  const { adapters, accounts, policy, pages, keys, issuer } = parts;
  return {
    adapter: (model) => adapters.of(model),
    jwks: { keys: [...keys] },
    routes: ROUTES,
    cookies: cookiesOf(issuer),
    responseTypes: ['code'],
    scopes: ['openid', 'offline_access', ...API_SCOPES],
    claims: CLAIMS,
    conformIdTokenClaims: false,
    subjectTypes: ['public'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: { id_token_signed_response_alg: ID_TOKEN_ALGORITHM },
    enabledJWA: { idTokenSigningAlgValues: [ID_TOKEN_ALGORITHM] },
    extraClientMetadata: { properties: OWN_METADATA },
    extraParams: { organization: checkParameters, invitation: null },
    allowOmittingSingleRegisteredRedirectUri: false,
    acceptQueryParamAccessTokens: false,
    clockTolerance: 5,
    pkce: { required: (_ctx, client) => platformClient(client).requirePkce },
    findAccount: accounts.find,
    loadExistingGrant: (ctx) => policy.existingGrant(ctx),
    interactions: { policy: policy.prompts(), url: (_ctx, { uid }) => `/oauth/interactions/${uid}` },
    // Signing out ends what has begun in the browser. No code asks whether its browser still has the grant it is of: in
    // another tab it may serve another organization by now.
    expiresWithSession: () => true,
    issueRefreshToken: (_ctx, client, source) => isRefreshable(client, source),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    clientBasedCORS: isOriginOf,
    renderError: (ctx, out, error) => pages.failed(ctx, out, error),
    features: featuresOf(pages),
    ttl: {
      AccessToken: ACCESS_TOKEN_LIFE_S,
      ClientCredentials: ACCESS_TOKEN_LIFE_S,
      AuthorizationCode: CODE_LIFE_S,
      IdToken: ID_TOKEN_LIFE_S,
      RefreshToken: untilSessionEnds,
      Grant: DAY_S,
      Session: DAY_S,
      Interaction: SIGN_IN_S,
    },
  };
}

/** The provider calls it for each request, after it has looked at the parameters that it knows itself. */
function checkParameters(ctx: KoaContextWithOIDC): void {
  demandShort(ctx);
  demandApiScopes(ctx);
  keepSilentOffline(ctx);
}

function featuresOf(pages: ProviderPages): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    resourceIndicators: { enabled: false },
    clientCredentials: { enabled: true },
    userinfo: { enabled: true },
    introspection: { enabled: true, allowedPolicy: mayIntrospect },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => pages.signOut(ctx, form),
      postLogoutSuccessSource: (ctx) => pages.signedOut(ctx),
    },
  };
}

/** Cookies are the browser's alone, and their names say so to it; see `sign-in-cookies.ts`. */
function cookiesOf(issuer: string): Configuration['cookies'] {
  const secure = issuer.startsWith('https:');
  const options = { httpOnly: true, sameSite: 'lax' as const, secure, signed: false };
  return { names: { ...cookieNames(issuer) }, long: { ...options, path: '/' }, short: options };
}

/** A refresh token lasts no longer than its session may. */
function untilSessionEnds({ oidc }: KoaContextWithOIDC, _token: RefreshToken, _client: Client): number {
  const ends = oidc.grant?.exp ?? 0;
  return Math.max(1, ends - Math.floor(Date.now() / 1_000));
}

/** A browser may call from the pages of a public client alone: a confidential one has no business there. */
function isOriginOf(_ctx: KoaContextWithOIDC, origin: string, client: Client): boolean {
  if (client.clientAuthMethod !== 'none') return false;
  // Of a private-use scheme it is `null`, as of every page in a sandbox.
  return origin !== 'null' && (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin);
}

/** A client that can prove who it is may ask about its own tokens and those of its organization's clients. */
async function mayIntrospect(
  { oidc }: KoaContextWithOIDC,
  client: Client,
  token: { readonly clientId?: string | undefined },
): Promise<boolean> {
  if (client.clientAuthMethod === 'none' || token.clientId === undefined) return false;
  if (token.clientId === client.clientId) return true;
  const other = await oidc.provider.Client.find(token.clientId);
  return (
    other !== undefined && platformClient(other).organizationId === platformClient(client).organizationId
  );
}
