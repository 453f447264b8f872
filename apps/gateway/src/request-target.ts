/**
 * Reads the request target the way every module will read it, and refuses the forms that two readers
 * could read differently: a path that means one thing to the gateway and another to Express is how
 * `/internal` would be reached from outside.
 */
type Target =
  { ok: true; path: string } | { ok: false; code: 'malformed_request' | 'route_not_found' | 'uri_too_long' };

export const LONGEST_TARGET = 8 * 1024;

/** Characters that are printable ASCII without space, `"`, `<`, `>`, `\`, `^`, `` ` ``, `{`, `|`, `}` (RFC 3986) and `#`. */
const PATH = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/%]*$/;
/** An encoded slash, backslash, dot, percent, NUL or control character: nothing in our paths needs one. */
const AMBIGUOUS_ESCAPE = /%(?:2f|5c|2e|25|[01][0-9a-f]|7f)/i;
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i;
const EMPTY_OR_DOT_SEGMENT = /\/(?:\.{0,2})(?=\/)|\/\.{1,2}$/;

export function readTarget(url: string): Target {
  if (url.length > LONGEST_TARGET) return { ok: false, code: 'uri_too_long' };
  const queryStart = url.indexOf('?');
  const path = queryStart === -1 ? url : url.slice(0, queryStart);
  if (!PATH.test(path) || BROKEN_ESCAPE.test(path)) return { ok: false, code: 'malformed_request' };
  if (AMBIGUOUS_ESCAPE.test(path) || EMPTY_OR_DOT_SEGMENT.test(path))
    return { ok: false, code: 'route_not_found' };
  return { ok: true, path };
}
