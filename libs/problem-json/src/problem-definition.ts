/** What the registry knows of a code: the status never changes once published, nor does the code's one cause. */
export interface ProblemDefinition {
  /** HTTP status. */
  readonly status: number;
  /** Short, the same for every occurrence (RFC 9457 `title`). */
  readonly title: string;
  /** The one cause of the code. */
  readonly meaning: string;
  /** What the caller can do about it. */
  readonly remedy: string;
}

/** Declares codes without losing their literal names. */
export function define<Code extends string>(
  definitions: Record<Code, readonly [status: number, title: string, meaning: string, remedy: string]>,
): Record<Code, ProblemDefinition> {
  const entries = Object.entries<readonly [number, string, string, string]>(definitions).map(
    ([code, [status, title, meaning, remedy]]) => [code, { status, title, meaning, remedy }] as const,
  );
  return Object.fromEntries(entries) as Record<Code, ProblemDefinition>;
}
