import { randomUUID } from 'node:crypto';
import type { DocumentedRoute } from './documented-routes.fixture.js';

/** Queries without which the form is wrong, which is refused before existence is looked at. */
const QUERIES: Record<string, string> = {
  'GET /v1/core/segments/{id}/explain': `?contact_id=${randomUUID()}`,
  'GET /v1/messaging/templates/{id}/diff': '?from=1&to=1',
  'DELETE /v1/core/contacts/{id}/identities': '?type=email&value=ana@example.com',
  'DELETE /v1/crm/lists/{id}/members': `?contact_id=${randomUUID()}`,
};
/** Of an item's part, in the path. */
const PART = randomUUID();
/** Of a custom object of `mine`, in the path. */
export const SLUG = 'vehicle';

/** Where records of custom objects are, as routes have it. */
export const RECORDS = '/v1/crm/objects/{slug}';

/** The path of a call on an item, with what its query must have. */
export function pathOf({ method, path }: DocumentedRoute, id: string): string {
  const named = path.replace('{id}', id).replace('{slug}', SLUG);
  return named.replaceAll(/\{\w+\}/g, PART) + (QUERIES[`${method} ${path}`] ?? '');
}

/** A record of a custom object that takes what the description gives as an example. */
export async function makeRecord(made: (path: string, body: object) => Promise<string>): Promise<string> {
  const fields = [
    { key: 'plate', type: 'string' },
    { key: 'year', type: 'integer' },
  ];
  await made('/v1/crm/object-definitions', { slug: SLUG, name: 'Vehicle', fields });
  return made(`/v1/crm/objects/${SLUG}`, { values: { year: 2024 } });
}
