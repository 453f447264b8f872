const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Whether a text is a UUID as PostgreSQL takes one, in the usual hyphenated form: of any version and variant, and of
 * none. What one module takes another must be able to read.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
