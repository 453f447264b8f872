export type { paths, ProblemCode } from './api.js';
export { type Call, type Client, type ClientSettings, createClient, type FailedAttempt } from './client.js';
export type { Credentials } from './credentials.js';
export {
  type CallName,
  type FieldProblem,
  NetworkError,
  type NetworkFault,
  ProblemError,
} from './problem-error.js';
export type { RetryOptions } from './retries.js';
export type {
  Answer,
  BodyOf,
  CallOptions,
  DataOf,
  Init,
  ItemOf,
  ListPath,
  Method,
  PathWith,
  QueryOf,
  Schemas,
} from './routes.js';
