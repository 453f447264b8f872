/** What was typed as the value that it stands for: JSON where it is some, else the text itself. */
export function asValue(typed: string): unknown {
  try {
    return JSON.parse(typed) as unknown;
  } catch {
    return typed;
  }
}

/** A value as one would type it: a text that would be read as something else stands in quotation marks. */
export function asTyped(value: unknown): string {
  if (typeof value === 'string' && asValue(value) === value) return value;
  return JSON.stringify(value);
}
