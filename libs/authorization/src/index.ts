export { ACCESS_TOKEN_AUDIENCE, ACCESS_TOKEN_TYPE, AccessTokens, type AccessToken } from './access-tokens.js';
export { ApiAuthenticator } from './api-authenticator.js';
export {
  API_KEY_LENGTH,
  API_KEY_MARK,
  apiKeyPrefix,
  hashApiKey,
  isWellFormedApiKey,
  newApiKey,
} from './api-key.js';
export { AuthorizationModule, type AuthorizationModuleOptions } from './authorization.module.js';
export { AuthorizationSource, RegistryUnavailable, UnknownCredential } from './authorization-source.js';
export type { ResolvedCaller } from './caller.js';
export { ChangeFeed, FEED_PACE, type FeedPace } from './change-feed.js';
export { CredentialCache, type CredentialEntry } from './credential-cache.js';
export { CredentialResolver, type AuthenticationOptions, type TenantOptions } from './credential-resolver.js';
export { HttpAuthorizationSource } from './http-authorization-source.js';
export {
  InternalCallRefused,
  InternalClient,
  type InternalCall,
  type ModuleName,
} from './internal-client.js';
export { InternalEndpoint, ServiceTokenGuard, type InternalEndpointOptions } from './internal-endpoint.js';
export { KeyUsage, type KeyUseNote } from './key-usage.js';
export { monotonic, type Monotonic } from './monotonic.js';
export {
  AUTHORIZATION_BATCH,
  type Acceptance,
  type ChangesPage,
  type ClientClaims,
  type ConfirmAnswer,
  type ConfirmRequest,
  type KeyUse,
  type MakerClaims,
  type ResolvedCredential,
  type ResolveRequest,
  type SessionClaims,
  type SigningKeySet,
  type TenantClaims,
  type Restriction,
  type UsageRequest,
} from './protocol.js';
export { ServiceTokens, type ServiceKeys } from './service-tokens.js';
