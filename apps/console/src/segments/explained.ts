/** What a condition was compared with, of one contact; `hidden` from who may not see it. */
type Actual = 'hidden' | { value: unknown } | { count: number; exact: boolean; after: string | null };

/** Whether an explained node holds. */
export function resultOf(explained: unknown): boolean | undefined {
  const { result } = asRecord(explained);
  return typeof result === 'boolean' ? result : undefined;
}

/** What an explained condition was compared with; undefined where that is not said. */
export function actualOf(explained: unknown): Actual | undefined {
  const { actual } = asRecord(explained);
  if (actual === null) return 'hidden';
  const said = asRecord(actual);
  const { count, after, exact } = said;
  if (typeof count === 'number') {
    return { count, exact: exact !== false, after: typeof after === 'string' ? after : null };
  }
  return 'value' in said ? { value: said['value'] } : undefined;
}

/** The explained node inside a group or a negation. */
export function innerOf(explained: unknown, kind: 'all' | 'any' | 'not', at: number): unknown {
  const inner = asRecord(explained)[kind];
  return kind === 'not' ? inner : Array.isArray(inner) ? (inner as unknown[])[at] : undefined;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
