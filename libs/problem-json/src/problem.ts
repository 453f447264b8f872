import { FieldErrors, type FieldError } from './field-errors.js';
import { PROBLEMS, type ProblemCode } from './registry.js';

/** The media type of every error body (RFC 9457). */
export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** A problem as it is sent. */
export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: ProblemCode;
  correlation_id: string;
  errors?: FieldError[];
  errors_total?: number;
  [member: string]: unknown;
}

/** What an occurrence adds to its code. */
interface ProblemOptions {
  /** Public text: never an id of another organization, a secret, SQL or a path. */
  detail?: string;
  /** All of them; the answer names the first 20 and counts the others. */
  errors?: readonly FieldError[] | FieldErrors;
  /** Response headers, e.g. `Retry-After`, `Allow`, `Location`. */
  headers?: Record<string, string>;
  /** Further members of the body, e.g. `references`, `conflicting_id`. */
  members?: Record<string, unknown>;
  /** What happened inside; logged, never sent. */
  cause?: unknown;
}

const REALM = 'realm="customer-platform"';

/** Headers without which a code would be incomplete: a challenge on every 401, a pause on every 503. */
const DEFAULT_HEADERS: Partial<Record<ProblemCode, Record<string, string>>> = {
  missing_credentials: { 'WWW-Authenticate': `Bearer ${REALM}` },
  invalid_token: { 'WWW-Authenticate': `Bearer ${REALM}, error="invalid_token"` },
  token_expired: {
    'WWW-Authenticate': `Bearer ${REALM}, error="invalid_token", error_description="The credential has expired"`,
  },
  sign_in_required: { 'WWW-Authenticate': `Bearer ${REALM}` },
  invalid_signature: { 'WWW-Authenticate': `Signature ${REALM}` },
  stale_signature: { 'WWW-Authenticate': `Signature ${REALM}, error="stale"` },
  queue_unavailable: { 'Retry-After': '1' },
  dependency_unavailable: { 'Retry-After': '1' },
  authorization_unavailable: { 'Retry-After': '1' },
  overloaded: { 'Retry-After': '1' },
  shutting_down: { 'Retry-After': '1' },
};

/** An error that has a published code. Throw it anywhere below a request; the problem filter answers it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  /** The errors that the answer names. */
  readonly errors?: readonly FieldError[];
  /** How many values were refused, those that are not named included. */
  readonly errorsTotal?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(
      options.detail ?? PROBLEMS[code].meaning,
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.code = code;
    this.status = PROBLEMS[code].status;
    if (options.errors) {
      const { named, total } = listed(options.errors);
      this.errors = named;
      this.errorsTotal = total;
    }
    this.headers = { ...DEFAULT_HEADERS[code], ...options.headers };
    this.members = options.members ?? {};
  }

  /** The problem of refused values: its code is the published code all errors share, else `validation_failed`. */
  static validation(errors: readonly FieldError[] | FieldErrors): Problem {
    const list = listed(errors);
    const [only] = list.named;
    const detail =
      list.total === 1 && only ? only.detail : `${list.total} values were refused; see \`errors\`.`;
    return new Problem(list.sharedCode ?? 'validation_failed', { detail, errors: list });
  }

  /** The body to send. `instance` is the request's path without its query, which may name people. */
  toBody(where: { instance: string; correlationId: string }): ProblemBody {
    return {
      type: `/problems/${this.code}`,
      title: PROBLEMS[this.code].title,
      status: this.status,
      detail: this.message,
      instance: where.instance,
      code: this.code,
      correlation_id: where.correlationId,
      ...(this.errors ? { errors: [...this.errors], errors_total: this.errorsTotal ?? 0 } : {}),
      ...this.members,
    };
  }
}

function listed(errors: readonly FieldError[] | FieldErrors): FieldErrors {
  return errors instanceof FieldErrors ? errors : new FieldErrors(errors);
}
