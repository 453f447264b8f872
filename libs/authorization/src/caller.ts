import type { AuthenticatedCaller, OrganizationSnapshot } from '@customer-platform/http';
import type { PermissionSets } from './permission-sets.js';
import type { ResolvedCredential, Restriction } from './protocol.js';

/** A caller as the registry knows it. One frozen object serves all requests of a cached credential. */
export interface ResolvedCaller extends AuthenticatedCaller {
  /** SHA-256 of the API key, lower-case hex: what an unconfirmed acceptance is confirmed by later. */
  readonly keyHash: string;
  readonly restriction: Restriction | null;
}

/** The answer of the registry as a caller; `organization` is shared by all callers of one organization. */
export function toCaller(
  resolved: ResolvedCredential,
  organization: OrganizationSnapshot,
  sets: PermissionSets,
  keyHash: string,
): ResolvedCaller {
  const { principal, actor } = resolved;
  return Object.freeze({
    organizationId: organization.id,
    principal,
    actor:
      actor.impersonator_id === undefined
        ? { type: actor.type, id: actor.id }
        : { type: actor.type, id: actor.id, impersonatorId: actor.impersonator_id },
    permissions: sets.of(resolved.permissions),
    organization,
    restriction: resolved.restriction,
    ...(resolved.session_id === undefined ? {} : { sessionId: resolved.session_id }),
    keyHash,
  });
}
