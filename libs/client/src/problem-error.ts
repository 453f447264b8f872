/** One field or parameter that a request got wrong. */
export interface FieldProblem {
  /** JSON Pointer into the body. */
  pointer?: string;
  /** Name of a query or path parameter. */
  parameter?: string;
  code: string;
  detail?: string;
}

/** The body of an answer that refuses, as `application/problem+json` (RFC 9457). */
export interface ProblemBody {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  instance?: string;
  code?: string;
  correlation_id?: string;
  errors?: FieldProblem[];
  errors_total?: number;
  [extension: string]: unknown;
}
