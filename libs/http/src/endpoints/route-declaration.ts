import type { Type } from '@nestjs/common';
import type { Permission } from '@customer-platform/permissions';
import type { ProblemCode } from '@customer-platform/problem-json';
import type { CredentialName } from '../credentials/application-passport.js';
import type { AcceptedCredential } from '../context/request-context.js';

/** Methods of routes. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The audience of a route (service.md, "What the service does"). */
export type ApiClass = 'runtime' | 'member' | 'management';

/** The latency budget a route is held to (the public contract, "Latency"). */
export type LatencyClass =
  'ingestion' | 'messaging_runtime' | 'member_core' | 'member_messaging' | 'management' | 'timeline';

/** What authorizes a route that has no permission. `service` routes are served on the internal listener only. */
export type OtherAuthorization =
  | 'tenant_token'
  | 'member_token'
  | 'provider_hmac'
  | 'signed_link'
  | 'invitation_token'
  | 'reset_token'
  | 'protocol'
  | 'none'
  | 'service';

/**
 * How a route takes its body: parsed JSON, a form or either; the bytes as they came (`raw`); not read at all, the
 * handler reads the stream (`stream`); or none.
 */
export type BodyForm = 'json' | 'form' | 'json|form' | 'raw' | 'stream' | 'none';

/** Whether `Idempotency-Key` is taken for 24 h by the platform, handled by the module itself, or not taken. */
export type IdempotencyRule = 'day' | 'own' | 'none';

/** Everything the platform knows of a route; written by the endpoint decorators, read by guard, reader and writer. */
export interface RouteDeclaration {
  readonly method: HttpMethod;
  /** Relative to the controller. */
  readonly path: string;
  /** With the controller's prefix, e.g. `/v1/core/contacts/:id`; set at boot. */
  fullPath?: string;
  readonly permission?: Permission;
  readonly authorization?: OtherAuthorization;
  readonly accepts: AcceptedCredential;
  /** The modules that may call a route of `authorization: 'service'`. */
  readonly callers: readonly string[];
  readonly apiClass: ApiClass;
  readonly latencyClass: LatencyClass;
  readonly success: number;
  readonly body: BodyForm;
  /** Bytes, after inflating. */
  readonly bodyLimit: number;
  readonly gzip: boolean;
  readonly idempotency: IdempotencyRule;
  /** Top-level members shown once, left out of a replayed answer. */
  readonly secretFields: readonly string[];
  /** Whether unknown query parameters are refused although the handler reads none. */
  readonly anyQuery: boolean;
  /** Whether calls refused for want of the permission are recorded. */
  readonly auditRefusals: boolean;
  /** Whether pages of other origins may ask: a preflight is told so, each answer says whether they see it. */
  readonly crossOrigin: boolean;
  readonly summary: string;
  readonly problems: readonly ProblemCode[];
}

const ROUTE = 'customer-platform:route';

/** The kind of credential that a route asks for, if a strategy looks at it: tokens of a body are the handler's. */
export function credentialOf({ permission, authorization }: RouteDeclaration): CredentialName | undefined {
  if (permission !== undefined) return 'api_credential';
  return authorization === undefined ? undefined : CREDENTIALS[authorization];
}

const CREDENTIALS: Partial<Record<OtherAuthorization, CredentialName>> = {
  member_token: 'member_token',
  tenant_token: 'tenant_token',
  service: 'service_token',
  provider_hmac: 'provider_signature',
  signed_link: 'signed_link',
};

/** Notes the declaration on a handler. */
export function declareRoute(handler: object, declaration: RouteDeclaration): void {
  if (Reflect.hasOwnMetadata(ROUTE, handler)) {
    throw new Error(`A handler has one endpoint decorator: ${declaration.method} ${declaration.path}`);
  }
  Reflect.defineMetadata(ROUTE, declaration, handler);
}

/** The declaration of a handler, if an endpoint decorator made one. */
export function routeOf(handler: object): RouteDeclaration | undefined {
  return Reflect.getMetadata(ROUTE, handler) as RouteDeclaration | undefined;
}

/** How a handler reads the query: which parameter decorator it uses. */
interface QueryUse {
  readonly kind: 'list' | 'dto';
}

const QUERY_USE = 'customer-platform:query-use';

/** Notes that a handler reads the query itself, so that the reader does not refuse its parameters. */
export function noteQueryUse(target: object, method: string | symbol, use: QueryUse): void {
  Reflect.defineMetadata(QUERY_USE, use, methodOf(target, method));
}

/** Whether a handler reads the query by a decorator. */
export function queryUseOf(handler: object): QueryUse | undefined {
  return Reflect.getMetadata(QUERY_USE, handler) as QueryUse | undefined;
}

/** The function a parameter decorator stands in. */
export function methodOf(target: object, method: string | symbol): object {
  return (target as Record<string | symbol, object>)[method] as object;
}

/** A DTO class. */
export type Dto = Type<unknown>;

/** Whether a route is about the caller's own second factors: all that is left to whoever lacks one that is asked for. */
export function isOfOwnFactors(permission: string | undefined): boolean {
  return permission?.startsWith('identity.mfa.') ?? false;
}
