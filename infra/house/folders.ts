import { relative } from 'node:path';
import { importsOf, workspace } from '../boundaries/imports.ts';
import { HOUSES } from '../boundaries/rooms.ts';

/** Tests and what only they use are left out; migrations are history. */
const LEFT_OUT = /\.(spec|e2e-spec|release-spec|fixture|property|suite)\.tsx?$|\/test\/|\/migrations\//;
const IN_A_FOLDER = /^apps\/([^/]+)\/src\/(.+)\/[^/]+$/;

/** The folders of an app, and how they hang together. */
export interface FolderStructure {
  readonly app: string;
  /** Folders of the first level, and those of them that import each other in a circle (the largest such set). */
  readonly folders: number;
  readonly knot: readonly string[];
  /** Imports, file by file, that run against the order that the app declares, or against that in which fewest do. */
  readonly climbs: readonly string[];
  /** The folders of the first level, which are the rooms, and those of two levels. */
  readonly first: Storeys;
  readonly second: Storeys;
}

/** Folders, the depth of their imports, and how much of the app the largest holds. */
interface Storeys {
  readonly folders: number;
  readonly floors: number;
  readonly largest: { readonly folder: string; readonly share: number };
}

interface Import {
  readonly from: string;
  readonly to: string;
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Every app with more than one folder, from the imports of its files: those of types and dynamic ones included. */
export async function structuresOf(linesOf: (file: string) => number): Promise<FolderStructure[]> {
  const { modules } = await importsOf(workspace);
  const byApp = new Map<string, { files: string[]; imports: Import[] }>();
  for (const { source, dependencies } of modules) {
    const file = relative(workspace, source.startsWith('/') ? source : `${workspace}/${source}`);
    const app = IN_A_FOLDER.exec(file)?.[1];
    if (app === undefined || LEFT_OUT.test(file)) continue;
    const own = byApp.get(app) ?? { files: [], imports: [] };
    byApp.set(app, own);
    own.files.push(file);
    for (const { resolved: to } of dependencies)
      if (IN_A_FOLDER.exec(to)?.[1] === app && !LEFT_OUT.test(to)) own.imports.push({ from: file, to });
  }
  return [...byApp]
    .map(([app, { files, imports }]) => structureOf(app, files, imports, linesOf))
    .filter(({ folders }) => folders > 1)
    .sort((one, other) => one.app.localeCompare(other.app));
}

function structureOf(
  app: string,
  files: readonly string[],
  imports: readonly Import[],
  linesOf: (file: string) => number,
): FolderStructure {
  const folders = graphOf(files, imports, 1);
  const order = declaredOrder(app) ?? orderOf(folders, imports, 1);
  const climbs = imports.filter(({ from, to }) => climbing(order, folderOf(from, 1), folderOf(to, 1)));
  const storeys = (levels: number): Storeys => {
    const graph = graphOf(files, imports, levels);
    const floors = floorsOf(graph, orderOf(graph, imports, levels));
    return { folders: graph.size, floors, largest: largestOf(files, linesOf, levels) };
  };
  return {
    app,
    folders: folders.size,
    knot: knotsOf(folders).sort((one, other) => other.length - one.length)[0] ?? [],
    climbs: climbs.map(({ from, to }) => `${from} → ${to}`),
    first: storeys(1),
    second: storeys(2),
  };
}

function largestOf(
  files: readonly string[],
  linesOf: (file: string) => number,
  levels: number,
): Storeys['largest'] {
  const lines = new Map<string, number>();
  for (const file of files) {
    const folder = folderOf(file, levels);
    lines.set(folder, (lines.get(folder) ?? 0) + linesOf(file));
  }
  const all = [...lines.values()].reduce((sum, each) => sum + each, 0);
  const [folder = '', most = 0] = [...lines].sort(([, one], [, other]) => other - one)[0] ?? [];
  return { folder, share: most / all };
}

/** The first folders below `src` on the way to a file. */
function folderOf(file: string, levels: number): string {
  return (IN_A_FOLDER.exec(file)?.[2] ?? '').split('/').slice(0, levels).join('/');
}

function graphOf(files: readonly string[], imports: readonly Import[], levels: number): Graph {
  const graph = new Map(files.map((file) => [folderOf(file, levels), new Set<string>()]));
  for (const { from, to } of imports) {
    const [one, other] = [folderOf(from, levels), folderOf(to, levels)];
    if (one !== other) graph.get(one)?.add(other);
  }
  return graph;
}

/** Sets of folders each of which leads to all others of its set (Tarjan); only those of more than one. */
function knotsOf(graph: Graph): string[][] {
  return componentsOf(graph).filter(({ length }) => length > 1);
}

/** Finds the circles of folders; one that is imported comes before those that import it. */
function componentsOf(graph: Graph): string[][] {
  const [found, low] = [new Map<string, number>(), new Map<string, number>()];
  const stack: string[] = [];
  const components: string[][] = [];
  const visit = (folder: string): number => {
    const own = found.size;
    found.set(folder, own);
    low.set(folder, own);
    stack.push(folder);
    for (const next of graph.get(folder) ?? []) {
      const reached = found.has(next) ? (stack.includes(next) ? (found.get(next) ?? own) : own) : visit(next);
      low.set(folder, Math.min(low.get(folder) ?? own, reached));
    }
    if (low.get(folder) === own) components.push(stack.splice(stack.indexOf(folder)));
    return low.get(folder) ?? own;
  };
  for (const folder of graph.keys()) if (!found.has(folder)) visit(folder);
  return components;
}

/** The depth of the imports that follow the order. */
function floorsOf(graph: Graph, order: ReadonlyMap<string, number>): number {
  const floors = new Map<string, number>();
  const fromTheGround = [...order.keys()].reverse();
  for (const folder of fromTheGround) {
    const below = [...(graph.get(folder) ?? [])].filter((next) => !climbing(order, folder, next));
    floors.set(folder, 1 + Math.max(0, ...below.map((next) => floors.get(next) ?? 0)));
  }
  return Math.max(0, ...floors.values());
}

/** So many orders are begun with, each made by chance from its number. */
const STARTS = 60;

/** Folders from the top to the ground; one that is not declared has no place in it. */
function declaredOrder(app: string): ReadonlyMap<string, number> | undefined {
  const declared = HOUSES[app]?.rooms;
  return declared && new Map(declared.map((folder, place) => [folder, place]));
}

/** Counts the imports that run from a folder to another. */
type Weigh = (from: string, to: string) => number;

/**
 * From the top to the ground: the order of folders against which fewest files import, as moves of one folder at a time
 * find it. For apps that declare none, and for folders of two levels.
 */
function orderOf(graph: Graph, imports: readonly Import[], levels: number): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const { from, to } of imports) {
    const key = `${folderOf(from, levels)} ${folderOf(to, levels)}`;
    weights.set(key, (weights.get(key) ?? 0) + 1);
  }
  const weigh: Weigh = (from, to) => weights.get(`${from} ${to}`) ?? 0;
  // Between circles the order is given; within one it is sought.
  const best = componentsOf(graph)
    .reverse()
    .flatMap((circle) => bestOrder(circle, weigh));
  return new Map(best.map((folder, place) => [folder, place]));
}

function bestOrder(circle: readonly string[], weigh: Weigh): readonly string[] {
  let best = { order: circle, climbs: Infinity };
  for (let start = 0; start < STARTS && circle.length > 1; start += 1) {
    const order = improved(shuffled(circle, start), weigh);
    const climbs = climbsOf(order, weigh);
    if (climbs < best.climbs) best = { order, climbs };
  }
  return best.order;
}

function climbsOf(order: readonly string[], weigh: Weigh): number {
  return order.reduce(
    (sum, folder, place) => order.slice(0, place).reduce((more, above) => more + weigh(folder, above), sum),
    0,
  );
}

/** Moves one folder at a time to where fewest imports climb, as long as that helps. */
function improved(given: readonly string[], weigh: Weigh): readonly string[] {
  let order = given;
  for (let moved = true; moved;) {
    moved = false;
    for (const folder of given) {
      const rest = order.filter((each) => each !== folder);
      const costs = [0];
      for (const above of rest) costs.push((costs.at(-1) ?? 0) + weigh(folder, above) - weigh(above, folder));
      const at = costs.indexOf(Math.min(...costs));
      if ((costs[at] ?? 0) >= (costs[order.indexOf(folder)] ?? 0)) continue;
      order = rest.toSpliced(at, 0, folder);
      moved = true;
    }
  }
  return order;
}

/** The same for the same number. */
function shuffled(folders: readonly string[], seed: number): readonly string[] {
  let state = seed * 2_654_435_761 + 1;
  const chance = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
  return folders
    .map((folder) => ({ folder, place: chance() }))
    .sort((one, other) => one.place - other.place)
    .map(({ folder }) => folder);
}

function climbing(order: ReadonlyMap<string, number>, from: string, to: string): boolean {
  return (order.get(from) ?? 0) > (order.get(to) ?? 0);
}
