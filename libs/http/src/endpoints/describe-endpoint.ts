import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  ApiSecurity,
  getSchemaPath,
} from '@nestjs/swagger';
import type { ProblemCode } from '@customer-platform/problem-json';
import { IDEMPOTENCY_KEY_SCHEMA } from '../idempotency/idempotency-key.js';
import { isOfOwnFactors, queryUseOf, type Dto, type RouteDeclaration } from './route-declaration.js';

/** The type of an answer: a DTO class, one of several, a page of one, or a list of one. */
export type ResponseType =
  Dto | { readonly page: Dto | ResponseType } | { readonly items: Dto } | { readonly oneOf: readonly Dto[] };

/** Server-sent events: an example of some, and what may stand in their `data`. */
export interface StreamType {
  readonly events: readonly Dto[];
  readonly example: string;
}

/** An answer that is no problem, beside the one of success. */
export type FurtherStatus = 200 | 307;

/** What the description needs beside the declaration. */
interface DescriptionOptions {
  readonly description?: string;
  readonly operationId?: string;
  readonly response?: ResponseType | StreamType;
  readonly download?: string;
  readonly request?: Dto;
  readonly also?: readonly FurtherStatus[];
}

/** Codes that a list can answer beside those of every route. */
const LIST_PROBLEMS: readonly ProblemCode[] = [
  'invalid_filter',
  'invalid_sort',
  'invalid_limit',
  'invalid_cursor',
  'cursor_mismatch',
];

/** Refused before any route is known: by the listener, by the gateway in front of it, or as the app stops. */
const HTTP_PROBLEMS: readonly ProblemCode[] = [
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'overloaded',
  'shutting_down',
  'dependency_unavailable',
  'upstream_timeout',
];

/** The OpenAPI description of a route: everything a caller must know is declared, nothing is typed twice. */
export function describeEndpoint(route: RouteDeclaration, options: DescriptionOptions): MethodDecorator {
  return (target, key, descriptor) => {
    const isList = queryUseOf(descriptor.value as object)?.kind === 'list';
    const codes = problemCodes(route, isList);
    applyDecorators(
      ApiOperation({
        summary: route.summary,
        ...(options.description ? { description: options.description } : {}),
        ...(options.operationId ? { operationId: options.operationId } : {}),
      }),
      ...(route.permission === undefined ? [] : [ApiExtension('x-permission', route.permission)]),
      ...(route.authorization === undefined ? [] : [ApiExtension('x-authorization', route.authorization)]),
      ApiExtension('x-api-class', route.apiClass),
      ApiExtension('x-latency-class', route.latencyClass),
      ApiExtension('x-problems', codes),
      ...security(route),
      ...(options.request === undefined ? [] : [ApiBody({ type: options.request })]),
      ...(route.body === 'json|form'
        ? [ApiConsumes('application/json', 'application/x-www-form-urlencoded')]
        : []),
      ...success(route.success, options.response, 'Success', options.download),
      ...(options.also ?? []).flatMap((status) => further(status, options.response)),
      ...idempotencyHeader(route),
    )(target, key, descriptor);
  };
}

/** Every code a route of this kind can answer, and its own; its whole path, not known here, adds to them. */
function problemCodes(route: RouteDeclaration, isList: boolean): ProblemCode[] {
  const codes = new Set<ProblemCode>([
    'malformed_request',
    'unknown_parameter',
    'validation_failed',
    'internal_error',
    ...HTTP_PROBLEMS,
  ]);
  const add = (...more: readonly ProblemCode[]) => more.forEach((code) => codes.add(code));
  const isMembers = route.authorization === 'member_token' || route.authorization === 'tenant_token';
  if (route.permission !== undefined || isMembers) {
    add('missing_credentials', 'invalid_token', 'token_expired', 'organization_suspended');
    add('authorization_unavailable', 'rate_limited');
  }
  if (route.permission !== undefined || route.authorization === 'tenant_token') add('permission_denied');
  if (route.permission !== undefined && route.accepts === 'user') add('user_required');
  const takesUsers = route.permission !== undefined && route.accepts !== 'api_key';
  if (takesUsers && !isOfOwnFactors(route.permission)) add('mfa_required');
  if (route.body !== 'none') add('malformed_json', 'body_too_large', 'unsupported_media_type');
  if (route.idempotency !== 'none') add('idempotency_key_reused', 'idempotency_in_progress');
  if (isList) add(...LIST_PROBLEMS);
  add(...route.problems);
  return [...codes].sort();
}

function security(route: RouteDeclaration): MethodDecorator[] {
  if (route.permission !== undefined) {
    const schemes =
      route.accepts === 'api_key|user'
        ? ['api_key', 'user_token']
        : [route.accepts === 'user' ? 'user_token' : 'api_key'];
    return schemes.map((scheme) => ApiSecurity(scheme));
  }
  if (route.authorization === 'member_token') return [ApiSecurity('member_token')];
  // A key in the header, or a token in the body. What else authorizes stands in the body, the query or a signature.
  const none = ApiSecurity({});
  return route.authorization === 'tenant_token' ? [ApiSecurity('api_key'), none] : [none];
}

function success(
  status: number,
  response: ResponseType | StreamType | undefined,
  description: string,
  download?: string,
): MethodDecorator[] {
  if (response === undefined)
    return [ApiResponse({ status, description: status === 204 ? 'Done' : description })];
  return [
    ApiExtraModels(...modelsOf(response)),
    ApiResponse({
      status,
      description,
      content: {
        ...contentOf(response),
        ...(download === undefined ? {} : { [download]: { schema: schemaOfFile(download) } }),
      },
    }),
  ];
}

function schemaOfFile(mediaType: string) {
  return mediaType.endsWith('json')
    ? { type: 'object' as const, additionalProperties: true }
    : { type: 'string' as const, format: 'binary' };
}

function further(status: FurtherStatus, response: ResponseType | StreamType | undefined): MethodDecorator[] {
  if (status === 200) return success(200, response, 'It was there already');
  const headers = { Location: { required: true, schema: { type: 'string' as const } } };
  return [ApiResponse({ status, description: 'The contact was merged: to its survivor', headers })];
}

function contentOf(
  response: ResponseType | StreamType,
): Record<string, { schema: Record<string, unknown>; example?: string }> {
  if (typeof response !== 'function' && 'events' in response)
    return { 'text/event-stream': { schema: { type: 'string' }, example: response.example } };
  return { 'application/json': { schema: schemaOf(response) } };
}

function modelsOf(response: ResponseType | StreamType): readonly Dto[] {
  if (typeof response === 'function') return [response];
  if ('oneOf' in response) return response.oneOf;
  if ('events' in response) return response.events;
  return 'page' in response ? modelsOf(response.page) : [response.items];
}

function schemaOf(response: ResponseType): Record<string, unknown> {
  if (typeof response === 'function') return { $ref: getSchemaPath(response) };
  if ('oneOf' in response) return { oneOf: response.oneOf.map((dto) => ({ $ref: getSchemaPath(dto) })) };
  if ('items' in response) return { type: 'array', items: { $ref: getSchemaPath(response.items) } };
  return {
    type: 'object',
    required: ['data', 'page'],
    properties: {
      data: { type: 'array', items: schemaOf(response.page) },
      page: {
        type: 'object',
        required: ['limit', 'next_cursor'],
        properties: {
          limit: { type: 'integer', example: 50 },
          next_cursor: { type: 'string', nullable: true },
        },
      },
    },
  };
}

function idempotencyHeader(route: RouteDeclaration): MethodDecorator[] {
  if (route.idempotency === 'none') return [];
  const lasting = route.idempotency === 'day' ? 'for 24 h' : 'for ever';
  return [
    ApiHeader({
      name: 'Idempotency-Key',
      required: route.problems.includes('idempotency_key_required'),
      description: `1 to 255 characters, bare or quoted; a repeat with the same body gets the same answer ${lasting}`,
      schema: IDEMPOTENCY_KEY_SCHEMA,
    }),
  ];
}
