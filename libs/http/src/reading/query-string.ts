import type { IncomingMessage } from 'node:http';
import { FieldErrors, Problem, shortName } from '@customer-platform/problem-json';
import { isStorableText } from '../json/inspect-json.js';

/** One parameter of a query as it was sent, decoded once. */
export interface QueryParameter {
  readonly name: string;
  readonly value: string;
}

/**
 * The query of a request in the order sent, repeated names kept; of the names in `only` alone, all others unread.
 * @throws `malformed_request` on a percent sign that starts no escape or bytes that are not UTF-8.
 */
export function queryParameters(request: IncomingMessage, only?: ReadonlySet<string>): QueryParameter[] {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  if (mark === -1 || mark === url.length - 1) return [];
  return url
    .slice(mark + 1)
    .split('&')
    .filter((pair) => pair !== '' && (only === undefined || only.has(pair.split('=', 1)[0] ?? '')))
    .map((pair) => {
      const equals = pair.indexOf('=');
      const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
      return { name: decode(name), value: decode(value) };
    });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new Problem('malformed_request', { detail: 'The query holds a malformed percent-encoding.' });
  }
}

/** Refuses U+0000 in a value, which no database takes; half of a surrogate pair is malformed to begin with. */
export function refuseUnstorable(parameters: readonly QueryParameter[]): void {
  const errors = parameters
    .filter(({ value }) => !isStorableText(value))
    .map(({ name: parameter }) => {
      const detail = `\`${shortName(parameter)}\` holds U+0000.`;
      return { parameter, code: 'invalid_format' as const, detail };
    });
  if (errors.length > 0) throw Problem.validation(errors);
}

/** Refuses parameters that the route does not take, naming the ones it does. */
export function refuseUnknown(unknown: readonly string[], allowed: readonly string[]): void {
  if (unknown.length === 0) return;
  const offer = allowed.length === 0 ? 'This route takes none.' : `Allowed: ${allowed.join(', ')}.`;
  const errors = new FieldErrors();
  for (const parameter of unknown) {
    if (errors.isFull) errors.count('unknown_parameter');
    else {
      const detail = `There is no parameter \`${shortName(parameter)}\`. ${offer}`;
      errors.add({ parameter, code: 'unknown_parameter', detail });
    }
  }
  throw Problem.validation(errors);
}
