import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What a spec file has run of the sources, as the test runner notes it. */
export interface Coverage {
  readonly spec: string;
  readonly green: boolean;
  /** Of processor time. */
  readonly seconds: number;
  readonly lines: Readonly<Record<string, readonly number[]>>;
}

/** What a run of all spec files has noted. */
export function readCoverage(folder: string): Coverage[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage);
}

/**
 * The spec files that run a line, nearest first: those beside the source, then those that share most of its path, and
 * among equals the quickest. Of a line that is run when its file is loaded, those that run anything of the file.
 */
export function specsOf(all: readonly Coverage[], path: string, line: number): string[] {
  const green = all.filter((each) => each.green);
  const ofLine = green.filter(({ lines }) => lines[path]?.includes(line));
  const isLoading = ofLine.length < 2;
  const chosen = isLoading ? green.filter(({ lines }) => path in lines) : ofLine;
  return chosen
    .toSorted((a, b) => distance(a.spec, path) - distance(b.spec, path) || a.seconds - b.seconds)
    .map(({ spec }) => spec);
}

/** Folders from one to the other; a spec of the source's own name is nearer than its neighbours. */
function distance(spec: string, path: string): number {
  if (spec === path.replace(/\.ts$/, '.spec.ts')) return 0;
  const [from, to] = [spec, path].map((file) => dirname(file).split('/'));
  const shared = from?.findIndex((folder, index) => folder !== to?.[index]) ?? 0;
  const common = shared === -1 ? (from?.length ?? 0) : shared;
  return 1 + (from?.length ?? 0) + (to?.length ?? 0) - 2 * common;
}
