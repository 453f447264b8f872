import type { IncomingMessage } from 'node:http';
import { Problem } from '@customer-platform/problem-json';

/** Longer than any token of the platform's. */
const LONGEST = 8_192;

/** The token of the `Authorization` header. @throws Problem `missing_credentials`, `invalid_token` (401) */
export function bearerTokenOf({ headers }: IncomingMessage): string {
  const { authorization } = headers;
  if (authorization === undefined || authorization.trim() === '') throw new Problem('missing_credentials');
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined || token.length > LONGEST) throw new Problem('invalid_token');
  return token;
}
