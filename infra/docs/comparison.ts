import type { ListedRoute } from './route-table.ts';
import type { ServedRoute } from './operations.ts';

const COMPARED = ['module', 'permission', 'auth', 'api_class', 'latency_class', 'success'] as const;

/** What identifies a route. */
export function keyOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`;
}

/** Where a served route is not what the contract lists, as sentences. */
export function differences(listed: ListedRoute[], served: ServedRoute[]): string[] {
  const contract = new Map(listed.map((route) => [keyOf(route), route]));
  return served.flatMap((route) => {
    const wanted = contract.get(keyOf(route));
    if (!wanted) return [`${keyOf(route)} is served by ${route.module}, and not in docs/spec/endpoints.csv`];
    return COMPARED.filter((field) => wanted[field] !== route[field]).map(
      (field) => `${keyOf(route)}: ${field} is "${route[field]}", the contract says "${wanted[field]}"`,
    );
  });
}
