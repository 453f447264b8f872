import type { ParamsOption, RequestBodyOption } from 'openapi-fetch';
import type { components, paths } from './api.js';

/** The named bodies: `Schemas['ContactDto']`. */
export type Schemas = components['schemas'];

/** An HTTP method that routes have. */
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have this method. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

/** A route's operation, as the OpenAPI document describes it. */
type Operation<M extends Method, P extends PathWith<M>> = paths[P][M & keyof paths[P]];

/** A route that answers a file, too, answers JSON to this client. */
type ContentOf<Answered> = Answered extends { content: infer Content }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : Content[keyof Content]
  : undefined;

/** What a route answers: the parsed body, or `undefined` where there is none. */
export type DataOf<M extends Method, P extends PathWith<M>> =
  Operation<M, P> extends { responses: infer Responses } ? ContentOf<Responses[keyof Responses]> : never;

/** The body that a route takes. */
export type BodyOf<M extends Method, P extends PathWith<M>> =
  RequestBodyOption<Operation<M, P>> extends { body?: infer Body } ? NonNullable<Body> : never;

/** The query that a route takes. */
export type QueryOf<M extends Method, P extends PathWith<M>> =
  Operation<M, P> extends { parameters: { query?: infer Query } } ? NonNullable<Query> : never;

/** What every call takes beside its parameters and its body. */
export interface CallOptions {
  /** Ends the call, waits between attempts included; the call then throws the signal's reason. */
  signal?: AbortSignal;
  /** Sent besides the client's own. */
  headers?: Record<string, string>;
  /** The `etag` of the answer that the change is based on: 412 `etag_mismatch` where it has changed since. */
  ifMatch?: string;
  /** Names what this POST does; the same key never does it twice. Made anew for each call unless given. */
  idempotencyKey?: string;
}

/** A body that is JSON text already, sent as it is: with numbers that JavaScript cannot hold. */
interface BodyText {
  body?: undefined;
  bodyText: string;
}

/** Parameters, body and options of one call. */
export type Init<M extends Method, P extends PathWith<M>> = ParamsOption<Operation<M, P>> &
  (RequestBodyOption<Operation<M, P>> | BodyText) &
  CallOptions;

/** The last argument of a call, which may be left out where nothing in it is required. */
export type InitOf<M extends Method, P extends PathWith<M>> =
  Record<never, never> extends Init<M, P> ? [init?: Init<M, P>] : [init: Init<M, P>];

/** A 2xx answer. */
export interface Answer<Data> {
  /** The parsed body; fields that this version of the client does not know are there as well. */
  data: Data;
  status: number;
  headers: Headers;
  /** For `ifMatch` of the change that is based on this answer. */
  etag: string | undefined;
  /** Leads to the log lines, and to all that this call caused. */
  correlationId: string | undefined;
  /** The answer was kept from an earlier call with the same idempotency key. */
  replayed: boolean;
  /** The contact that was asked for has been merged into the one with this id, whose answer this is. */
  mergedInto: string | undefined;
}

/** A page of a list. */
interface ListPage {
  data: unknown[];
  page: { next_cursor: string | null };
}

/** The paths that answer lists by pages. */
export type ListPath = {
  [P in PathWith<'get'>]: DataOf<'get', P> extends ListPage ? P : never;
}[PathWith<'get'>];

/** One item of a list. */
export type ItemOf<P extends ListPath> = DataOf<'get', P> extends { data: (infer Item)[] } ? Item : never;
