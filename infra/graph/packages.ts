import { importsOf, workspace } from '../boundaries/imports.ts';

const SPEC = /(\.spec|\.e2e-spec|\.fixture)\.ts$|\/test\//;
const PACKAGE = /^((?:apps|libs)\/[^/]+)\/src\//;

/** A package, and what of ours it imports. */
export interface PackageNode {
  path: string;
  imports: string[];
}

/** Apps and libraries with what their sources (not their tests) really import of one another. */
export async function packageGraph(): Promise<PackageNode[]> {
  const nodes = new Map<string, Set<string>>();
  for (const module of (await importsOf(workspace)).modules) {
    const path = PACKAGE.exec(module.source)?.[1];
    if (!path || SPEC.test(module.source)) continue;
    const node = nodes.get(path) ?? new Set<string>();
    nodes.set(path, node);
    for (const { resolved } of module.dependencies) {
      const target = PACKAGE.exec(resolved)?.[1];
      if (target && target !== path) node.add(target);
    }
  }
  return [...nodes]
    .map(([path, imports]) => ({ path, imports: [...imports].sort() }))
    .sort((a, b) => a.path.localeCompare(b.path));
}

/** Leaves out an arrow where a longer way says the same, so that the picture can be read. */
export function reduced(graph: PackageNode[]): PackageNode[] {
  const byPath = new Map(graph.map((node) => [node.path, node]));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (seen.has(from)) return false;
    seen.add(from);
    return (byPath.get(from)?.imports ?? []).some((next) => next === to || reaches(next, to, seen));
  };
  return graph.map((node) => ({
    ...node,
    imports: node.imports.filter(
      (target) => !node.imports.some((other) => other !== target && reaches(other, target)),
    ),
  }));
}

/** How far above the packages that import nothing each package stands: the longest way down. */
export function ranks(graph: PackageNode[]): Map<string, number> {
  const byPath = new Map(graph.map((node) => [node.path, node]));
  const known = new Map<string, number>();
  const rank = (path: string, above: string[] = []): number => {
    if (above.includes(path)) throw new Error(`Packages import each other: ${[...above, path].join(' → ')}`);
    const found = known.get(path);
    if (found !== undefined) return found;
    const below = (byPath.get(path)?.imports ?? []).map((next) => rank(next, [...above, path]));
    const value = below.length === 0 ? 0 : Math.max(...below) + 1;
    known.set(path, value);
    return value;
  };
  graph.forEach(({ path }) => rank(path));
  return known;
}
