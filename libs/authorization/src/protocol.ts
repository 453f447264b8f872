/** Why a credential that exists may do nothing, or only authenticate further (identity.md §8). */
export type Restriction = 'mfa_required' | 'organization_suspended';

/** Answer of `POST /internal/authz/resolve`: everything a module needs to know of a credential, read at one instant. */
export interface ResolvedCredential {
  principal: { type: 'api_key' | 'user' | 'oauth_client' | 'organization'; id: string };
  actor: { type: string; id: string; impersonator_id?: string };
  organization: {
    id: string;
    status: 'active' | 'suspended';
    settings: Record<string, unknown>;
    /** The one directly below the root that it belongs to, itself perhaps; absent for the root. It never changes. */
    tenant_id?: string;
    /** Those above it whose rate limits it uses up too, the highest first; absent where there is none. */
    ancestors?: { id: string; organization_per_second: number }[];
  };
  permissions: string[];
  restriction: Restriction | null;
  /** The session that a user acts in; absent for others. */
  session_id?: string;
  /** The organization's epoch at the instant of the answer. */
  epoch: number;
  /** Milliseconds until the credential ends by itself; null when it has no end. */
  expires_in_ms: number | null;
}

/**
 * Whose word a token of a member stands on (core.md §12): an API key's, by its id; without one the organization's own,
 * whose answer has the settings and no permission.
 */
export interface TenantClaims {
  organization_id: string;
  api_key_id?: string;
}

/**
 * Whose rights something lives by that goes on without a credential: of a user in the organization, of an OAuth client by
 * its id, or of an API key by its id, for which the one speaks that it was rotated to.
 */
export interface MakerClaims {
  organization_id: string;
  maker_type: 'api_key' | 'oauth_client' | 'user';
  maker_id: string;
}

/** Whose access token was presented: a user in an organization, by the session that it was issued in. */
export interface SessionClaims {
  organization_id: string;
  session_id: string;
  user_id: string;
}

/** Whose access token was presented: an OAuth client's own, by the generation of its secret that it was issued in. */
export interface ClientClaims {
  organization_id: string;
  client_id: string;
  client_generation: string;
}

/** Body of `POST /internal/authz/resolve`: the SHA-256 of an API key, lower-case hex, or claims that were verified. */
export type ResolveRequest = { key_hash: string } | TenantClaims | SessionClaims | ClientClaims | MakerClaims;

/** Answer of `GET /internal/authz/keys`: public JWKs that verify access tokens. */
export interface SigningKeySet {
  keys: Record<string, unknown>[];
}

/** Answer of `GET /internal/authz/changes`. */
export interface ChangesPage {
  /** To be handed back with the next read; opaque. */
  cursor: string;
  /** The cursor handed in means nothing to this database (restored, replaced): forget everything cached. */
  reset: boolean;
  changes: { organization_id: string; epoch: number }[];
}

/** One credential that was accepted while the registry was away. */
export interface Acceptance {
  key_hash: string;
  /** When it was accepted: ISO 8601, UTC. */
  accepted_at: string;
  /** What it was accepted for; when given, the key's role must have held it then. */
  permission?: string;
}

/** Body of `POST /internal/authz/confirm`, at most 1,000 at once. */
export interface ConfirmRequest {
  acceptances: Acceptance[];
}

/** Answer of `POST /internal/authz/confirm`: one verdict for each acceptance, in the order asked. */
export interface ConfirmAnswer {
  valid: boolean[];
}

/** That a key was used. */
export interface KeyUse {
  organization_id: string;
  key_id: string;
  /** The latest use: ISO 8601, UTC. */
  last_used_at: string;
}

/** Body of `POST /internal/authz/usage`, at most 1,000 at once. */
export interface UsageRequest {
  uses: KeyUse[];
}

/** How many items one confirm or usage call may carry. */
export const AUTHORIZATION_BATCH = 1_000;
