import type { IncomingMessage } from 'node:http';
import type { Permission } from '@customer-platform/permissions';
import { clientAddress } from './client-address.js';

/** Who is calling. */
interface Principal {
  readonly type: 'api_key' | 'user' | 'oauth_client' | 'organization' | 'member' | 'system';
  readonly id: string;
  /** The contact that a token of a member was issued to, which may be merged into `id` by now. */
  readonly issuedTo?: string;
}

/** The principal as the audit log records it; `impersonatorId` is the user who acts as another. */
export interface Actor {
  readonly type: string;
  readonly id: string;
  readonly impersonatorId?: string;
}

/** What a module knows of an organization without asking, as fresh as the credential's snapshot. */
export interface OrganizationSnapshot {
  readonly id: string;
  readonly status: 'active' | 'suspended';
  readonly settings: {
    readonly rate_limits?: { readonly key_per_second: number; readonly organization_per_second: number };
    readonly locale?: string;
    readonly timezone?: string;
    readonly [setting: string]: unknown;
  };
  /** The one directly below the root that it belongs to, itself perhaps; absent for the root. It never changes. */
  readonly tenant_id?: string;
  /** Organizations above it whose limit everything counts against too that it sends (identity.md §2). */
  readonly ancestors?: readonly { readonly id: string; readonly organization_per_second: number }[];
}

/** A credential that was found valid, with what it may do at this moment. */
export interface AuthenticatedCaller {
  readonly organizationId: string;
  readonly organization: OrganizationSnapshot;
  readonly principal: Principal;
  readonly actor: Actor;
  readonly permissions: ReadonlySet<Permission>;
  /** The session that a user acts in. */
  readonly sessionId?: string;
  /** A reason why nothing (`organization_suspended`) or only one's factors (`mfa_required`) can be used. */
  readonly restriction?: 'mfa_required' | 'organization_suspended' | null;
  /** The registry was silent; ingestion queues such an event for confirmation, all else was denied before. */
  readonly unconfirmed?: boolean;
}

/** Which credentials a route takes. */
export type AcceptedCredential = 'api_key' | 'api_key|user' | 'user';

/** Everything a service may know of the request that it serves; the first argument of every service method. */
export interface RequestContext {
  readonly organizationId: string;
  readonly organization: OrganizationSnapshot;
  readonly principal: Principal;
  readonly actor: Actor;
  /** The session that a user acts in. */
  readonly sessionId?: string;
  readonly correlationId: string;
  readonly permissions: ReadonlySet<Permission>;
  can(permission: Permission): boolean;
  /** The raw `Authorization` header, to call another module as the same caller. Never logged, never stored. */
  readonly authorization: string | undefined;
  readonly ip?: string;
  readonly userAgent?: string;
  readonly unconfirmed?: boolean;
  /** The header `If-Match` as sent; see `requireMatch`. */
  readonly ifMatch?: string;
}

/** From where a request came, as far as it says. */
export interface RequestOrigin {
  readonly ip?: string;
  readonly userAgent?: string;
}

/** From where a request came; what is too long to be a browser's name is cut. */
export function originOf(request: IncomingMessage): RequestOrigin {
  const ip = clientAddress(request);
  const userAgent = request.headers['user-agent']?.slice(0, 500);
  return { ...(ip ? { ip } : {}), ...(userAgent ? { userAgent } : {}) };
}

/** Builds the context of an authenticated request. */
export function contextOf(
  caller: AuthenticatedCaller,
  request: IncomingMessage,
  correlationId: string,
): RequestContext {
  const { headers } = request;
  return {
    organizationId: caller.organizationId,
    organization: caller.organization,
    principal: caller.principal,
    actor: caller.actor,
    correlationId,
    permissions: caller.permissions,
    can: (permission) => caller.permissions.has(permission),
    authorization: headers.authorization,
    ...originOf(request),
    ...(caller.sessionId === undefined ? {} : { sessionId: caller.sessionId }),
    ...(caller.unconfirmed ? { unconfirmed: true } : {}),
    ...(headers['if-match'] ? { ifMatch: headers['if-match'] } : {}),
  };
}
