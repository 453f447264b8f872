import { createHash } from 'node:crypto';
import { Problem } from '@customer-platform/problem-json';
import { canonicalJson } from '../json/canonical-json.js';

/** A strong entity tag (RFC 9110) for what changes whenever the resource does: a version, or the whole resource. */
export function etagOf(state: unknown): string {
  const text = typeof state === 'string' || typeof state === 'number' ? String(state) : undefined;
  if (text !== undefined && /^[\w.:-]{1,64}$/.test(text)) return `"${text}"`;
  return `"${createHash('sha256').update(canonicalJson(state)).digest('base64url').slice(0, 22)}"`;
}

/**
 * Compares `If-Match` with the resource's present tag; without the header nothing is asked.
 * @throws `etag_mismatch` (412).
 */
export function requireMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  // Strong comparison: a weak tag (W/"…") never matches (RFC 9110, 13.1.1).
  if (ifMatch.split(',').some((tag) => tag.trim() === etag)) return;
  throw new Problem('etag_mismatch', { headers: { ETag: etag } });
}
