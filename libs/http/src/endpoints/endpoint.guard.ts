import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Problem } from '@customer-platform/problem-json';
import {
  contextOf,
  type AuthenticatedCaller,
  type Authenticator,
  type MemberAuthenticator,
  type RequestContext,
  type TenantAuthenticator,
} from '../context/request-context.js';
import type { RefusalRecorder } from '../context/refusals.js';
import { stateOf } from '../context/request-state.js';
import { noteOrganization } from '../observe/correlation.js';
import { isOfOwnFactors, routeOf, type RouteDeclaration } from './route-declaration.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The authenticators an app provides; a route that needs one it lacks stops the boot. */
export interface Authenticators {
  readonly caller?: Authenticator;
  readonly member?: MemberAuthenticator;
  readonly tenant?: TenantAuthenticator;
}

/**
 * The gate of every route, in the contract's order: credential (401), then permission (403). Validation and existence
 * come after, so that nobody learns of either without the right to. A handler without a declaration is closed, and
 * internal and public routes are told apart by the route that matched, not by how its path was written.
 */
export class EndpointGuard implements CanActivate {
  constructor(
    private readonly authenticators: Authenticators,
    private readonly refusals?: RefusalRecorder,
  ) {}

  async canActivate(execution: ExecutionContext): Promise<boolean> {
    const request = execution.switchToHttp().getRequest<Request>();
    const route = routeOf(execution.getHandler());
    const state = stateOf(request);
    const isInternal = route?.authorization === 'service';
    if (!route || isInternal !== (state.listener === 'internal')) throw new Problem('route_not_found');
    state.route = route;
    const caller = await this.authenticate(request, route);
    if (!caller) return true;
    noteOrganization(caller.organizationId);
    const context = contextOf(caller, request, state.correlationId);
    requireStanding(caller, route);
    await this.requirePermission(context, request, route);
    state.context = context;
    return true;
  }

  private async requirePermission(
    context: RequestContext,
    request: Request,
    { permission, auditRefusals }: RouteDeclaration,
  ): Promise<void> {
    if (permission === undefined || context.can(permission)) return;
    if (auditRefusals) {
      const { id } = request.params;
      const known = typeof id === 'string' && UUID.test(id) ? { id: id.toLowerCase() } : {};
      await this.refusals?.refused(context, { permission, ...known });
    }
    throw new Problem('permission_denied', {
      detail: `The credential lacks the permission \`${permission}\`.`,
      members: { permission },
    });
  }

  private async authenticate(
    request: Request,
    route: RouteDeclaration,
  ): Promise<AuthenticatedCaller | undefined> {
    if (route.permission !== undefined)
      return this.authenticators.caller?.authenticate(request, route.accepts);
    if (route.authorization === 'member_token')
      return this.authenticators.member?.authenticateMember(request);
    if (route.authorization === 'tenant_token')
      return this.authenticators.tenant?.authenticateTenant(request);
    return undefined;
  }
}

function requireStanding(caller: AuthenticatedCaller, { permission }: RouteDeclaration): void {
  if (caller.restriction === 'organization_suspended') throw new Problem('organization_suspended');
  if (caller.restriction === 'mfa_required' && !isOfOwnFactors(permission)) throw new Problem('mfa_required');
}
