import type { Permission } from '@customer-platform/permissions';
import type { ProblemCode } from '@customer-platform/problem-json';
import type { FurtherStatus, ResponseType } from './describe-endpoint.js';
import { Endpoint } from './endpoint.decorator.js';

/** Options of the endpoints of the common administrative form. */
interface ResourceEndpointOptions {
  readonly permission: Permission;
  readonly summary: string;
  readonly description?: string;
  /** Only where it differs from the common form. */
  readonly path?: string;
  readonly response?: ResponseType;
  /** The media type of a file that it answers instead, to whoever accepts it by name. */
  readonly download?: string;
  readonly problems?: readonly ProblemCode[];
  readonly also?: readonly FurtherStatus[];
  readonly accepts?: 'api_key|user' | 'user';
  readonly secretFields?: readonly string[];
  readonly auditRefusals?: boolean;
  /** False: no answer has an `ETag`, and `If-Match` asks nothing. */
  readonly tagged?: boolean;
}

const item = (path: string | undefined, suffix = '') => ({ path: path ?? `:id${suffix}` });

/** `GET /x`: 200 with a page; `response` is the type of an item. */
export function ListEndpoint(options: ResourceEndpointOptions): MethodDecorator {
  const response = options.response === undefined ? {} : { response: { page: options.response } };
  return Endpoint({ ...options, ...response, method: 'GET', problems: options.problems ?? [] });
}

/** `POST /x`: 201 with the new resource and its `Location`. */
export function CreateEndpoint(options: ResourceEndpointOptions): MethodDecorator {
  return Endpoint({ ...options, method: 'POST', success: 201 });
}

/** `GET /x/{id}`: 200, soft-deleted or not. */
export function GetEndpoint(options: ResourceEndpointOptions): MethodDecorator {
  return Endpoint({ ...options, ...item(options.path), method: 'GET' });
}

/** `PATCH /x/{id}`: 200; JSON merge: absent is unchanged, null is cleared. */
export function UpdateEndpoint(options: ResourceEndpointOptions): MethodDecorator {
  const problems = [...(options.problems ?? []), 'resource_deleted', 'etag_mismatch'] as const;
  return Endpoint({ ...options, ...item(options.path), method: 'PATCH', problems });
}

/** `DELETE /x/{id}`: 204, writes `deleted_at`; a repeat changes nothing, whatever `If-Match` says. */
export function SoftDeleteEndpoint({ tagged = true, ...options }: ResourceEndpointOptions): MethodDecorator {
  const problems = [...(options.problems ?? []), ...(tagged ? (['etag_mismatch'] as const) : [])];
  const form = { method: 'DELETE', success: 204, body: 'none' } as const;
  return Endpoint({ ...options, ...item(options.path), ...form, problems });
}

/** `POST /x/{id}/restore`: 200 with the resource. */
export function RestoreEndpoint(options: ResourceEndpointOptions): MethodDecorator {
  const problems = [...(options.problems ?? []), 'not_deleted', 'restore_conflict', 'etag_mismatch'] as const;
  return Endpoint({ ...options, ...item(options.path, '/restore'), method: 'POST', success: 200, problems });
}

/** `DELETE /x/{id}/purge`: 204, the row is gone. */
export function PurgeEndpoint(options: ResourceEndpointOptions): MethodDecorator {
  const own = ['not_soft_deleted', 'resource_referenced', 'dependency_unavailable', 'etag_mismatch'] as const;
  const problems = [...(options.problems ?? []), ...own];
  return Endpoint({
    ...options,
    ...item(options.path, '/purge'),
    method: 'DELETE',
    success: 204,
    body: 'none',
    problems,
  });
}
