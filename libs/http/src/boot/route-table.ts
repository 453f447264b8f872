import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { RequestMethod, type INestApplicationContext, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { match, type MatchFunction } from 'path-to-regexp';
import { isPermission } from '@customer-platform/permissions';
import type { ListenerName } from '../context/request-state.js';
import { routeOf, type RouteDeclaration } from '../endpoints/route-declaration.js';

/** The modules of the platform that serve an API. */
export type ModuleName = 'core' | 'crm' | 'identity' | 'messaging' | 'loyalty';

/** An app is not fit to start; the message is one sentence for the operator. */
export class BootError extends Error {
  override readonly name = 'BootError';
}

/** A route of a running app. */
export type Route = RouteDeclaration & { readonly fullPath: string };

/**
 * Every route of an app, checked.
 * @throws BootError naming each route without exactly one authorization, outside its module, or declared twice.
 */
export function routesOf(app: INestApplicationContext, module: ModuleName): Route[] {
  const complaints: string[] = [];
  const routes: Route[] = [];
  const seen = new Set<string>();
  for (const controller of controllersOf(app)) {
    for (const { name, handler } of handlersOf(controller)) {
      const place = `${controller.name}.${name}`;
      const declaration = routeOf(handler);
      if (!declaration) {
        complaints.push(`${place} has a route without an endpoint decorator`);
        continue;
      }
      const fullPath = joinPath(prefixOf(controller), declaration.path);
      declaration.fullPath = fullPath;
      const key = `${declaration.method} ${fullPath.replace(/:[^/]+/g, ':')}`;
      if (seen.has(key)) complaints.push(`${place} declares ${declaration.method} ${fullPath} a second time`);
      seen.add(key);
      const complaint = complaintOf(declaration, fullPath, module);
      if (complaint) complaints.push(`${place} ${complaint}`);
      routes.push({ ...declaration, fullPath });
    }
  }
  if (complaints.length > 0)
    throw new BootError(`The app ${module} does not start: ${complaints.join('; ')}.`);
  return routes;
}

function complaintOf(route: RouteDeclaration, path: string, module: ModuleName): string | undefined {
  const { permission, authorization } = route;
  if ((permission === undefined) === (authorization === undefined)) {
    return 'states neither exactly one permission nor exactly one other authorization';
  }
  if (permission !== undefined && !isPermission(permission))
    return `requires ${String(permission)}, which does not exist`;
  if ((authorization === 'service') !== path.startsWith('/internal/')) {
    return `serves ${path}: routes under /internal are for services, and only those`;
  }
  const prefixes = [
    `/v1/${module}/`,
    '/internal/',
    ...(module === 'identity' ? ['/oauth/', '/.well-known/'] : []),
  ];
  if (!prefixes.some((prefix) => path.startsWith(prefix))) return `serves ${path}, outside of its module`;
  return undefined;
}

function controllersOf(app: INestApplicationContext): Type[] {
  const modules = [...app.get(ModulesContainer).values()];
  const types = modules.flatMap((module) => [...module.controllers.values()].map(({ metatype }) => metatype));
  return [...new Set(types)].filter((type): type is Type => typeof type === 'function');
}

function handlersOf(controller: Type): { name: string; handler: object }[] {
  const found = new Map<string, object>();
  for (let proto: object | null = controller.prototype as object; proto && proto !== Object.prototype;) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(proto))) {
      if (typeof value !== 'function' || found.has(name)) continue;
      const method = Reflect.getMetadata(METHOD_METADATA, value as object) as RequestMethod | undefined;
      if (method !== undefined) found.set(name, value as object);
    }
    proto = Object.getPrototypeOf(proto) as object | null;
  }
  return [...found].map(([name, handler]) => ({ name, handler }));
}

function prefixOf(controller: Type): string {
  const path = Reflect.getMetadata(PATH_METADATA, controller) as string | string[] | undefined;
  return (Array.isArray(path) ? path[0] : path) ?? '';
}

function joinPath(prefix: string, path: string): string {
  return `/${[prefix, path].flatMap((part) => part.split('/').filter((piece) => piece !== '')).join('/')}`;
}

/** Finds out which methods a path takes, for 405 and OPTIONS. */
export class RouteTable {
  private readonly entries: { route: Route; matches: MatchFunction<object> }[];
  /** Paths without a parameter. Each is a resource of its own, though an item's `:id` would take its name, too. */
  private readonly literal: ReadonlyMap<string, readonly Route[]>;

  constructor(routes: readonly Route[]) {
    this.entries = routes.map((route) => ({
      route,
      matches: match(route.fullPath, { sensitive: true, trailing: false, decode: false }),
    }));
    const literal = routes.filter(({ fullPath }) => !fullPath.includes(':'));
    this.literal = Map.groupBy(literal, ({ fullPath }) => fullPath);
  }

  /** Whether a route with a parameter would answer by a method that this very path does not take. */
  isShadowed(path: string, method: string, listener: ListenerName): boolean {
    return this.literal.has(path) && !this.methodsOf(path, listener).includes(method);
  }

  /** The methods of a path on a listener, HEAD with every GET; empty if there is no such path. */
  methodsOf(path: string, listener: ListenerName): string[] {
    const methods = new Set<string>();
    for (const route of this.literal.get(path) ?? this.matching(path)) {
      if ((route.authorization === 'service') !== (listener === 'internal')) continue;
      methods.add(route.method);
      if (route.method === 'GET') methods.add('HEAD');
    }
    return [...methods].sort();
  }

  /** Whether pages of other origins may call a path. */
  isCrossOrigin(path: string): boolean {
    return (this.literal.get(path) ?? this.matching(path)).some(({ crossOrigin }) => crossOrigin);
  }

  private matching(path: string): Route[] {
    return this.entries.filter(({ matches }) => matches(path)).map(({ route }) => route);
  }
}
