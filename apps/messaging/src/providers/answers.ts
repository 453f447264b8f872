const MOST_ID = 255;

/** A field of an answer that should be a JSON object; undefined where it is not, or has none. */
export function fieldOf(body: string, name: string): unknown {
  try {
    const answer: unknown = JSON.parse(body);
    return typeof answer === 'object' && answer !== null
      ? (answer as Record<string, unknown>)[name]
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** An id that reports can come back with: text that can be stored and found. */
export function idOf(given: unknown): string | undefined {
  const text = typeof given === 'number' ? String(given) : given;
  return typeof text === 'string' && /^[\x21-\x7e]+$/.test(text) && text.length <= MOST_ID ? text : undefined;
}

/** Fields of a JSON object that somebody else wrote. */
export type Foreign = Readonly<Record<string, unknown>>;

/** A value as an object; an empty one where it is none. */
export function objectOf(given: unknown): Foreign {
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? (given as Foreign) : {};
}

/** A value as a list of objects; an empty one where it is none. */
export function listOf(given: unknown): Foreign[] {
  return Array.isArray(given) ? given.map(objectOf) : [];
}

/** A value as a text; an empty one where it is none. */
export function textOf(given: unknown): string {
  if (typeof given === 'number' && Number.isFinite(given)) return String(given);
  return typeof given === 'string' ? given : '';
}

/** An answer that should be a JSON object; an empty one where it is none. */
export function answerOf(body: string): Foreign {
  try {
    return objectOf(JSON.parse(body));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** What a name stands for in a table of ours; what is not written there, such as `constructor`, for nothing. */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A time in seconds since 1970; now where it is none, or none that can be stored. */
export function timeOf(seconds: unknown, now: Date): Date {
  const at = new Date(Math.round(Number(textOf(seconds)) * 1_000));
  return at.getTime() > 0 && at.getUTCFullYear() < 3_000 ? at : now;
}
