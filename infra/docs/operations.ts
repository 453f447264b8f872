import { existsSync, readFileSync } from 'node:fs';
import type { OpenApiDocument } from '../../apps/gateway/src/openapi-merge.ts';

/** The apps that serve public routes, in the order of the documents. */
export const MODULES = ['core', 'crm', 'identity', 'messaging', 'loyalty', 'gateway'] as const;

/** A route that an app serves, as its own description states it. */
export interface ServedRoute {
  module: string;
  method: string;
  path: string;
  permission: string;
  auth: string;
  api_class: string;
  latency_class: string;
  success: string;
}

interface Operation {
  'x-permission'?: string;
  'x-authorization'?: string;
  'x-api-class'?: string;
  'x-latency-class'?: string;
  security?: Record<string, unknown>[];
  responses?: Record<string, unknown>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const CREDENTIAL: Record<string, string> = { api_key: 'api_key', user_token: 'user' };

/** Where an app's committed description is. */
function descriptionFile(module: string): URL {
  return new URL(`../../apps/${module}/openapi.json`, import.meta.url);
}

/** An app's committed description, or undefined while it has none. */
export function descriptionOf(module: string): OpenApiDocument | undefined {
  const file = descriptionFile(module);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument) : undefined;
}

function authOf(operation: Operation): string {
  if (operation['x-authorization'] !== undefined) return operation['x-authorization'];
  const schemes = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme));
  return schemes.map((scheme) => CREDENTIAL[scheme] ?? scheme).join('|');
}

/** Beside a 201 a 200 may stand, for what was there already; beside a 200 a redirect. */
function successOf(statuses: string[]): string {
  const [done] = statuses.filter((status) => status.startsWith('2')).sort((a, b) => Number(b) - Number(a));
  return done ?? statuses.find((status) => status.startsWith('3')) ?? '';
}

/** Every route that a description states. */
export function routesIn(module: string, { paths = {} }: Pick<OpenApiDocument, 'paths'>): ServedRoute[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => {
      const operation = item[method] as Operation;
      return {
        module,
        method: method.toUpperCase(),
        path,
        permission: operation['x-permission'] ?? '',
        auth: authOf(operation),
        api_class: operation['x-api-class'] ?? '',
        latency_class: operation['x-latency-class'] ?? '',
        success: successOf(Object.keys(operation.responses ?? {})),
      };
    }),
  );
}

/** Every route that the modules serve. */
export function servedRoutes(): ServedRoute[] {
  return MODULES.flatMap((module) => routesIn(module, descriptionOf(module) ?? {}));
}
