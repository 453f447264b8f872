import { types } from 'node:util';
import { Problem } from '@customer-platform/problem-json';

/**
 * Postgres is away, restarting, out of connections, memory or disk, or others kept what the work needs. Answers 503 with
 * `Retry-After`; consumers retry for as long as it lasts.
 */
export class DatabaseUnavailable extends Problem {
  constructor(cause: unknown) {
    const detail = CONTENDED.test(postgresFailure(cause)?.code ?? '')
      ? 'Others keep changing the same rows; try again shortly.'
      : 'The database of this module does not answer; try again shortly.';
    super('dependency_unavailable', { detail, cause });
  }
}

/** What pg reports of a failed statement; see https://www.postgresql.org/docs/18/errcodes-appendix.html. */
interface PostgresFailure {
  code: string;
  constraint?: string;
  table?: string;
  message: string;
}

/**
 * What a transaction went by has been changed by another meanwhile. It counts as a serialization failure of Postgres: the
 * unit of work begins anew.
 */
export class Superseded extends Error {
  override readonly name = 'Superseded';
  readonly code = '40001';
  readonly severity = 'ERROR';
}

/**
 * Another transaction got first to what this one was about to write: the same work passes when it begins anew. Whoever
 * throws it has seen that; `Superseded` is for what the runner of transactions begins anew by itself.
 */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
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
/**
 * What says nothing of the statement, only of the server at this moment: any statement might have met it.
 * - 08: the connection broke. 25006: a failover left us on what is a standby now. 25P03, 25P04, 57P05: the server ended
 *   a session of ours that stood still for too long, which a frozen process causes and no event.
 * - 53000, 53100, 53200, 53300: no resources, disk, memory, connections. Not 53400, a limit that one statement exceeded.
 * - 57014: cancelled by its time limit or by an operator. 57P01–57P04: shutdown, crash, starting up, database dropped
 *   (while it is restored). 58: the disk or the system under Postgres failed.
 * XX000 and its like stay faults of the statement: a defect that the same values meet again.
 */
const AWAY = /^(08...|25006|25P03|25P04|53[0-3]00|57014|57P0[1-5]|58...)$/;
/** Serialization failure, deadlock, lock timeout: the same work may well pass the next time. */
const CONTENDED = /^(40001|40P01|55P03)$/;
/** Cancelled by its time limit, out of memory. */
const RAN_OUT = /^(57014|53200)$/;
/** Of these, what ends at once and leaves the way free: the whole unit of work can begin anew. */
const BEGINS_ANEW = /^(40001|40P01)$/;
/** The server became a standby under the connection: only another connection reaches the new primary. */
const READ_ONLY = '25006';

/** The Postgres error inside whatever was thrown (TypeORM wraps it), if that is what it is. */
export function postgresFailure(error: unknown): PostgresFailure | undefined {
  for (let at = error, depth = 0; types.isNativeError(at) && depth < 5; at = inner(at), depth += 1) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in at)
      return at as unknown as PostgresFailure;
  }
  return undefined;
}

/** Whether the error says that the database cannot work now, as opposed to having refused a statement. */
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

/**
 * Whether repeating the same unit of work may succeed: the database is away, or two transactions got in each other's
 * way. The one classification by which consumers, workers and requests tell an outage from a fault of their own.
 */
export function isTransient(error: unknown): boolean {
  return isDatabaseUnavailable(error) || CONTENDED.test(postgresFailure(error)?.code ?? '');
}

/**
 * Whether a statement ran out of time or memory. Any might at such a moment, and one that is too large does each time: tried
 * with less it comes through, and what fails alone time and again is at fault itself.
 */
export function ranOut(error: unknown): boolean {
  return RAN_OUT.test(postgresFailure(error)?.code ?? '');
}

/**
 * Tells whether a failure says nothing of the item that a job was at: the database is away, and the next item would meet the same.
 * What ran out of time or memory, or met a lock that others hold, may be one item's matter, however often: the others go on
 * without it.
 */
export function isAway(error: unknown): boolean {
  return (
    isDatabaseUnavailable(error) && !ranOut(error) && !CONTENDED.test(postgresFailure(error)?.code ?? '')
  );
}

/** Whether a statement lost to another transaction, and all of its own may begin anew. */
export function lostToAnother(error: unknown): boolean {
  return BEGINS_ANEW.test(codeOf(error) ?? '');
}

/** Whether a statement lost to another transaction in whatever way. */
export function isContended(error: unknown): boolean {
  return CONTENDED.test(codeOf(error) ?? '');
}

/** Whether the connection itself is what fails: it must not be lent again. */
export function spoilsConnection(error: unknown): boolean {
  return postgresFailure(error)?.code === READ_ONLY;
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

/** Of a failed statement only: whoever wraps one in an error of its own has said what it means. */
function codeOf(error: unknown): string | undefined {
  const failure = postgresFailure(error);
  return failure === error || failure === (error as { driverError?: unknown }).driverError
    ? failure?.code
    : undefined;
}

function inner(error: Error): unknown {
  return (error as { driverError?: unknown }).driverError ?? error.cause;
}
