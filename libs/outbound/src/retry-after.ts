const LONGEST_WISH_MS = 24 * 3_600_000;

/**
 * `Retry-After` (RFC 9110, 10.2.3), seconds or a date, in milliseconds from now; 0 where there is none or it says
 * nothing. A wish for more than a day is taken for a day.
 */
export function retryAfterMs(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? '';
  const wish = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isFinite(wish) && text !== '' ? Math.min(Math.max(wish, 0), LONGEST_WISH_MS) : 0;
}
