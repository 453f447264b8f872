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
