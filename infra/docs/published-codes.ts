import { existsSync, readFileSync } from 'node:fs';
import { PROBLEMS } from '@customer-platform/problem-json';

/** Code → status of every problem code ever published. */
type PublishedCodes = Record<string, number>;

/** The committed list. */
const PUBLISHED_FILE = new URL('../../docs/published-codes.json', import.meta.url);

/** The codes of the registry, with their status. */
export function currentCodes(): PublishedCodes {
  return Object.fromEntries(Object.entries(PROBLEMS).map(([code, { status }]) => [code, status]));
}

/** The codes published so far. */
export function publishedCodes(): PublishedCodes {
  return existsSync(PUBLISHED_FILE)
    ? (JSON.parse(readFileSync(PUBLISHED_FILE, 'utf8')) as PublishedCodes)
    : {};
}

/** Where the registry breaks what was published: a code that vanished, or one with another status. */
export function brokenCodes(published: PublishedCodes, current: PublishedCodes): string[] {
  return Object.entries(published).flatMap(([code, status]) => {
    const now = current[code];
    if (now === undefined) return [`${code} (${status}) has vanished`];
    return now === status ? [] : [`${code} was ${status}, is ${now}`];
  });
}

/**
 * The list with what is new. Throws where a published code vanished or changed its status: the list only grows.
 */
export function publishCodes(): PublishedCodes {
  const published = publishedCodes();
  const current = currentCodes();
  const broken = brokenCodes(published, current);
  if (broken.length > 0) throw new Error(`Published codes must stay as they are: ${broken.join('; ')}.`);
  return Object.fromEntries(
    Object.entries({ ...published, ...current }).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
