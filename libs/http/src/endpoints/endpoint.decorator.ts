import { applyDecorators, HttpCode, RequestMapping, RequestMethod } from '@nestjs/common';
import type { Permission } from '@customer-platform/permissions';
import type { ProblemCode } from '@customer-platform/problem-json';
import type { AcceptedCredential } from '../context/request-context.js';
import {
  describeEndpoint,
  type FurtherStatus,
  type ResponseType,
  type StreamType,
} from './describe-endpoint.js';
import {
  declareRoute,
  type ApiClass,
  type BodyForm,
  type Dto,
  type HttpMethod,
  type IdempotencyRule,
  type LatencyClass,
  type OtherAuthorization,
  type RouteDeclaration,
} from './route-declaration.js';

/** Management bodies, in bytes (the public contract, "Requests and answers"). */
const DEFAULT_BODY_LIMIT = 1024 * 1024;

/** What authorizes a route: exactly one permission, or another authorization. A misspelt permission does not compile. */
type RouteAuthorization =
  | { readonly permission: Permission; readonly authorization?: never }
  | { readonly permission?: never; readonly authorization: OtherAuthorization };

/** Options of {@link Endpoint}. */
export type EndpointOptions = RouteAuthorization & {
  readonly method: HttpMethod;
  /** Relative to the controller, in Express's form: `:id/replay`. Default: the controller's own path. */
  readonly path?: string;
  readonly summary: string;
  readonly description?: string;
  /** Default `management`. */
  readonly apiClass?: ApiClass;
  /** Default `management`. */
  readonly latencyClass?: LatencyClass;
  /** Default: 201 for POST with a permission, else 200. */
  readonly success?: number;
  /** Credentials the route takes; default `api_key` for runtime routes, else `api_key|user`. */
  readonly accepts?: AcceptedCredential;
  readonly response?: ResponseType | StreamType;
  /** The media type of a file that it answers instead, to whoever accepts it by name. */
  readonly download?: string;
  /** Default: the type of the parameter marked `@Body()`. */
  readonly request?: Dto;
  /** What it answers beside its success: 200 for what was there already, 307 to where it is now. */
  readonly also?: readonly FurtherStatus[];
  /** Problems beside those every route of its kind can answer. */
  readonly problems?: readonly ProblemCode[];
  /** Default `json` for POST, PUT, PATCH and DELETE, `none` for GET. */
  readonly body?: BodyForm;
  /** Bytes after inflating; default 1 MiB. */
  readonly bodyLimit?: number;
  /** Takes `Content-Encoding: gzip`. */
  readonly gzip?: boolean;
  /** The modules that may call a route of `authorization: 'service'`, and no others. */
  readonly callers?: readonly string[];
  /** Default `day` for management POSTs with a permission, else `none`. */
  readonly idempotency?: IdempotencyRule;
  readonly secretFields?: readonly string[];
  /** Calls refused for want of the permission are recorded too; for what is worth knowing that it was tried. */
  readonly auditRefusals?: boolean;
  /** Takes any query parameter; default only for routes that a protocol or a provider governs. */
  readonly anyQuery?: boolean;
  /** Pages of other origins may call it; see `RouteDeclaration`. */
  readonly crossOrigin?: boolean;
};

/**
 * Declares a route: verb, path, success status, authorization, classes, body form, problems and OpenAPI, in one place.
 * Nothing is derived from the path. An app does not boot with a route that has no endpoint decorator.
 */
export function Endpoint(options: EndpointOptions): MethodDecorator {
  const declaration = declarationOf(options);
  return applyDecorators(
    (_target: object, _key: string | symbol, descriptor: PropertyDescriptor) => {
      declareRoute(descriptor.value as object, declaration);
    },
    RequestMapping({ method: RequestMethod[declaration.method], path: declaration.path || '/' }),
    HttpCode(declaration.success),
    describeEndpoint(declaration, options),
  );
}

function declarationOf(options: EndpointOptions): RouteDeclaration {
  const { method, apiClass = 'management' } = options;
  const byPermission = options.permission !== undefined;
  const dayKey = byPermission && method === 'POST' && apiClass === 'management';
  const foreign = ['protocol', 'provider_hmac', 'signed_link'].includes(options.authorization ?? '');
  return {
    method,
    path: options.path ?? '',
    ...(options.permission === undefined ? {} : { permission: options.permission }),
    ...(options.authorization === undefined ? {} : { authorization: options.authorization }),
    callers: options.callers ?? [],
    accepts: options.accepts ?? (apiClass === 'runtime' ? 'api_key' : 'api_key|user'),
    apiClass,
    latencyClass: options.latencyClass ?? 'management',
    success: options.success ?? (method === 'POST' && byPermission ? 201 : 200),
    body: options.body ?? (method === 'GET' ? 'none' : 'json'),
    bodyLimit: options.bodyLimit ?? DEFAULT_BODY_LIMIT,
    gzip: options.gzip ?? false,
    idempotency: options.idempotency ?? (dayKey ? 'day' : 'none'),
    secretFields: options.secretFields ?? [],
    anyQuery: options.anyQuery ?? foreign,
    auditRefusals: options.auditRefusals ?? false,
    crossOrigin: options.crossOrigin ?? false,
    summary: options.summary,
    problems: options.problems ?? [],
  };
}
