import { Problem } from '@customer-platform/problem-json';

const MAX_LENGTH = 255;
/** The longest way to write a key: quoted, each of its characters escaped. Nothing longer is looked at. */
const LONGEST_WRITTEN = 2 * MAX_LENGTH + 2;

/** What {@link readIdempotencyKey} takes, for descriptions: bare, or as a quoted string with its escapes. */
export const IDEMPOTENCY_KEY_SCHEMA = {
  type: 'string',
  minLength: 1,
  pattern: `^([!#-~]([ -~]{0,${MAX_LENGTH - 2}}[!-~])?|"([ !#-\\[\\]-~]|\\\\["\\\\]){1,${MAX_LENGTH}}")$`,
} as const;

/**
 * The key of the header `Idempotency-Key`, bare or as a quoted string (RFC 9651), 1 to 255 characters; undefined
 * without the header.
 * @throws `validation_failed` naming the header.
 */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const written = Array.isArray(header) ? header.join(', ') : header;
  if (written.length > LONGEST_WRITTEN) throw tooLong();
  const text = written.trim();
  const key = text.startsWith('"') ? unquote(text) : text;
  if (key === undefined)
    throw refusal('invalid_format', 'The quoted string is not closed or holds a bad escape.');
  if (key.length === 0) throw refusal('too_short', 'The key is empty.');
  if (key.length > MAX_LENGTH) throw tooLong();
  if (!/^[\x20-\x7e]+$/.test(key))
    throw refusal('invalid_format', 'The key holds other than printable ASCII.');
  return key;
}

function unquote(text: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text);
  return quoted?.[1]?.replace(/\\(["\\])/g, '$1');
}

function tooLong(): Problem {
  return refusal('too_long', `The key is longer than ${MAX_LENGTH} characters.`);
}

function refusal(code: 'invalid_format' | 'too_short' | 'too_long', detail: string): Problem {
  return Problem.validation([{ parameter: 'Idempotency-Key', code, detail }]);
}
