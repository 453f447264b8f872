import type { ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { Problem } from '@customer-platform/problem-json';
import { contextOf, type AuthenticatedCaller, type RequestContext } from '../context/request-context.js';
import type { RefusalRecorder } from '../context/refusals.js';
import { stateOf } from '../context/request-state.js';
import type { ApplicationPassport, CredentialName, Principals } from '../credentials/application-passport.js';
import { isUuid } from '../json/uuids.js';
import { noteOrganization } from '../observe/correlation.js';
import { credentialOf, isOfOwnFactors, routeOf, type RouteDeclaration } from './route-declaration.js';

/** Credentials of whoever acts in an organization; the others say themselves what they are good for. */
type OfCallers = {
  [Name in CredentialName]: Principals[Name] extends AuthenticatedCaller ? Name : never;
}[CredentialName];

const OF_CALLERS: Record<OfCallers, true> = { api_credential: true, member_token: true, tenant_token: true };

function isOfCallers(credential: CredentialName): credential is OfCallers {
  return Object.hasOwn(OF_CALLERS, credential);
}

type AuthenticateOptions = Pick<RouteDeclaration, 'accepts' | 'callers'>;

/** Credentials that the handler looks for in the body where the header has none. */
const MAY_STAND_IN_THE_BODY: ReadonlySet<CredentialName> = new Set(['tenant_token']);

/**
 * The gate of every route, in the contract's order: credential (401), then permission (403). Validation and existence
 * come after, so that nobody learns of either without the right to. A handler without a declaration is closed, and
 * internal and public routes are told apart by the route that matched, not by how its path was written. The route says
 * which strategy is asked; what it finds is `request.user`.
 */
export class EndpointGuard extends AuthGuard('api_credential') {
  private readonly options = new WeakMap<object, AuthenticateOptions>();

  constructor(
    private readonly passport: ApplicationPassport,
    private readonly refusals?: RefusalRecorder,
  ) {
    super();
  }

  override async canActivate(execution: ExecutionContext): Promise<boolean> {
    const request = execution.switchToHttp().getRequest<Request>();
    const route = routeOf(execution.getHandler());
    const state = stateOf(request);
    const isInternal = route?.authorization === 'service';
    if (!route || isInternal !== (state.listener === 'internal')) throw new Problem('route_not_found');
    state.route = route;
    const credential = credentialOf(route);
    if (credential === undefined) return true;
    if (!isOfCallers(credential)) {
      await this.authenticate(credential, execution);
      return true;
    }
    const caller = await this.authenticate(credential, execution);
    if (!caller) return true;
    noteOrganization(caller.organizationId);
    const context = contextOf(caller, request, state.correlationId);
    requireStanding(caller, route);
    await this.requirePermission(context, request, route);
    state.context = context;
    return true;
  }

  /** What a strategy is told of the route beside the request. */
  override getAuthenticateOptions(execution: ExecutionContext): AuthenticateOptions {
    const handler = execution.getHandler();
    let options = this.options.get(handler);
    if (!options) {
      const { accepts = 'api_key', callers = [] } = routeOf(handler) ?? {};
      this.options.set(handler, (options = { accepts, callers }));
    }
    return options;
  }

  /** By the strategy of this application: the guard of `@nestjs/passport` asks the one of the process. */
  private async authenticate<Name extends CredentialName>(
    credential: Name,
    execution: ExecutionContext,
  ): Promise<Principals[Name] | undefined> {
    const request = execution.switchToHttp().getRequest<Request>();
    const options = this.getAuthenticateOptions(execution);
    const found = await this.passport.authenticate(credential, request, options);
    if (found) request.user = found;
    else if (!MAY_STAND_IN_THE_BODY.has(credential)) throw new Problem('missing_credentials');
    return found;
  }

  private async requirePermission(
    context: RequestContext,
    request: Request,
    { permission, auditRefusals }: RouteDeclaration,
  ): Promise<void> {
    if (permission === undefined || context.can(permission)) return;
    if (auditRefusals) {
      const { id } = request.params;
      const known = typeof id === 'string' && isUuid(id) ? { id: id.toLowerCase() } : {};
      await this.refusals?.refused(context, { permission, ...known });
    }
    throw new Problem('permission_denied', {
      detail: `The credential lacks the permission \`${permission}\`.`,
      members: { permission },
    });
  }
}

/**
 * Refuses a caller that may use nothing, or only its own factors.
 * @throws Problem `organization_suspended`, `mfa_required`
 */
export function requireStanding(
  caller: AuthenticatedCaller,
  { permission }: { readonly permission?: RouteDeclaration['permission'] | undefined },
): void {
  if (caller.restriction === 'organization_suspended') throw new Problem('organization_suspended');
  if (caller.restriction === 'mfa_required' && !isOfOwnFactors(permission)) throw new Problem('mfa_required');
}
