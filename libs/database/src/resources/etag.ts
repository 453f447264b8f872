import { createHash } from 'node:crypto';
import { Problem } from '@customer-platform/problem-json';

/** What an entity tag is made of: it changes with every change of the row, for `updatedAt` always grows. */
export interface Tagged {
  id: string;
  updatedAt: Date;
}

/** The strong entity tag of a row's present state (RFC 9110 §8.8.3), quotes included. */
export function etagOf(row: Tagged): string {
  const digest = createHash('sha256').update(`${row.id} ${row.updatedAt.toISOString()}`).digest('base64url');
  return `"${digest.slice(0, 22)}"`;
}

/**
 * Compares `If-Match` with the row's tag, strongly (RFC 9110 §13.1.1).
 * @throws Problem `etag_mismatch` (412) when the header names other states only
 */
export function checkIfMatch(ifMatch: string | undefined, row: Tagged): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (!tags.includes(etagOf(row))) {
    throw new Problem('etag_mismatch', { headers: { ETag: etagOf(row) } });
  }
}
