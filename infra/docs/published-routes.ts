import { existsSync, readFileSync } from 'node:fs';
import { keyOf } from './comparison.ts';
import type { ServedRoute } from './operations.ts';

/** The committed list: `METHOD path` of every route that ever existed. It only grows, as callers rely on each. */
const PUBLISHED_ROUTES_FILE = new URL('../../docs/published-routes.json', import.meta.url);

/** The routes published so far. */
export function publishedRoutes(): string[] {
  return existsSync(PUBLISHED_ROUTES_FILE)
    ? (JSON.parse(readFileSync(PUBLISHED_ROUTES_FILE, 'utf8')) as string[])
    : [];
}

/** The published routes that are not served any more. */
export function vanishedRoutes(published: readonly string[], served: readonly ServedRoute[]): string[] {
  const exists = new Set(served.map(keyOf));
  return published.filter((route) => !exists.has(route));
}

/** The list with what is new. Throws where a published route has vanished. */
export function publishRoutes(served: readonly ServedRoute[], published = publishedRoutes()): string[] {
  const vanished = vanishedRoutes(published, served);
  if (vanished.length > 0) throw new Error(`Published routes must stay: ${vanished.join(', ')}.`);
  return [...new Set([...published, ...served.map(keyOf)])].sort();
}
