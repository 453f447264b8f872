export { ACCESS_TOKEN_AUDIENCE, ACCESS_TOKEN_TYPE, AccessTokens } from './access-tokens.js';
export { apiKeyPrefix, hashApiKey, isWellFormedApiKey, newApiKey } from './api-key.js';
export { ApiCredentialStrategy } from './api-credential.strategy.js';
export { AuthorizationModule } from './authorization.module.js';
export { AuthorizationSource, RegistryUnavailable, UnknownCredential } from './authorization-source.js';
export { ChangeFeed } from './change-feed.js';
export { CredentialCache } from './credential-cache.js';
export { CredentialResolver, type AuthenticationOptions } from './credential-resolver.js';
export { HttpAuthorizationSource } from './http-authorization-source.js';
export { InternalCallRefused, InternalClient, type ModuleName } from './internal-client.js';
export { InternalEndpoint } from './internal-endpoint.js';
export { KeyUsage } from './key-usage.js';
export { monotonic } from './monotonic.js';
export {
  AUTHORIZATION_BATCH,
  type Acceptance,
  type ChangesPage,
  type ClientClaims,
  type ConfirmAnswer,
  type KeyUse,
  type MakerClaims,
  type ResolvedCredential,
  type ResolveRequest,
  type SessionClaims,
  type SigningKeySet,
  type TenantClaims,
  type Restriction,
} from './protocol.js';
export { TimelineRoute, timelineRoute, type TimelineSource } from './timeline-route.js';
export { ServiceTokens, type ServiceKeys } from './service-tokens.js';
export { Tenants } from './tenants.js';
