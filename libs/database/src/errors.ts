import { types } from 'node:util';
import { Problem } from '@customer-platform/problem-json';

/** Postgres is away, restarting or out of connections. Answers 503; consumers retry for as long as it lasts. */
export class DatabaseUnavailable extends Problem {
  constructor(cause: unknown) {
    super('dependency_unavailable', {
      detail: 'The database of this module does not answer; try again shortly.',
      cause,
    });
  }
}

/** What pg reports of a failed statement; see https://www.postgresql.org/docs/18/errcodes-appendix.html. */
export interface PostgresFailure {
  code: string;
  constraint?: string;
  table?: string;
  message: string;
}

const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENOENT',
]);
const SOCKET_MESSAGES = [
  'Connection terminated',
  'Query read timeout',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Driver not Connected',
  'Cannot use a pool after calling end on the pool',
];
/** Class 08 connection exceptions, 53300 too many connections, 57P01-3 shutdown, crash and starting up. */
const AWAY = /^(08...|53300|57P0[123])$/;
/** Serialization failure, deadlock, lock timeout: the same work may well pass the next time. */
const PASSING = /^(40001|40P01|55P03)$/;

/** The Postgres error inside whatever was thrown (TypeORM wraps it), if that is what it is. */
export function postgresFailure(error: unknown): PostgresFailure | undefined {
  for (let at = error, depth = 0; types.isNativeError(at) && depth < 5; at = inner(at), depth += 1) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in at)
      return at as unknown as PostgresFailure;
  }
  return undefined;
}

/** Whether the error says that the database cannot be reached, as opposed to having refused a statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof Problem) return error instanceof DatabaseUnavailable;
  const failure = postgresFailure(error);
  if (failure) return AWAY.test(failure.code);
  for (let at = error, depth = 0; types.isNativeError(at) && depth < 5; at = inner(at), depth += 1) {
    const { code, message } = at as Error & { code?: unknown };
    if (typeof code === 'string' && SOCKET_CODES.has(code)) return true;
    if (SOCKET_MESSAGES.some((start) => message.startsWith(start))) return true;
  }
  return false;
}

/** Whether repeating the same unit of work may succeed: the database is away, or two transactions got in each other's way. */
export function isTransient(error: unknown): boolean {
  return isDatabaseUnavailable(error) || PASSING.test(postgresFailure(error)?.code ?? '');
}

/**
 * Takes out of a failure what may hold a row's values: TypeORM keeps the statement's parameters, Postgres quotes the
 * key and the row. The error is logged, and a log holds no personal value.
 */
export function withoutValues(error: unknown): unknown {
  for (let at = error, depth = 0; types.isNativeError(at) && depth < 5; at = inner(at), depth += 1) {
    for (const name of ['parameters', 'detail', 'where', 'client']) Reflect.deleteProperty(at, name);
  }
  return error;
}

function inner(error: Error): unknown {
  return (error as { driverError?: unknown }).driverError ?? error.cause;
}
