import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACE } from '@customer-platform/testing';

/** What a rule looks at, and to whom a campaign goes, takes a permission of its own. */
export const READ_BESIDE: Record<string, string[]> = {
  '/v1/core/segments': ['core.contacts.read', 'core.events.read'],
  '/v1/core/segments/{id}': ['core.contacts.read', 'core.events.read'],
  '/v1/core/segments/preview': ['core.contacts.read'],
  '/v1/messaging/campaigns': ['core.segments.read', 'crm.lists.read'],
};

/** A route as the OpenAPI document of the whole has it; CI holds the document to what the apps serve. */
export interface DocumentedRoute {
  method: string;
  path: string;
  permission?: string;
  /** Whether only users can call it, and no machine. */
  usersOnly: boolean;
  /** The schemes of bearer tokens that it takes. */
  takes: readonly string[];
  /** What it asks for instead of a permission. */
  authorization?: string;
  /** The example of its body: right in form. */
  body?: unknown;
}

interface Operation {
  'x-permission'?: string;
  'x-authorization'?: string;
  security?: object[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: object;
}

/** Every route of every module, and the gateway's own. */
export function documentedRoutes(): DocumentedRoute[] {
  const text = readFileSync(join(WORKSPACE, 'docs/openapi.json'), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => 'responses' in operation)
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        permission: operation['x-permission'],
        usersOnly: JSON.stringify(operation.security) === '[{"user_token":[]}]',
        takes: (operation.security ?? []).flatMap((scheme) => Object.keys(scheme)),
        authorization: operation['x-authorization'],
        body: operation.requestBody?.content['application/json']?.example,
      })),
  );
}

/** The path of what the items are in of which a route shows or changes one. */
export function collectionOf({ path }: Pick<DocumentedRoute, 'path'>): string {
  return path.slice(0, path.indexOf('/{id}'));
}

/** Whether a request to it carries a body. */
export function hasBody({ method }: Pick<DocumentedRoute, 'method'>): boolean {
  return method !== 'GET' && method !== 'DELETE';
}
