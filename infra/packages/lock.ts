import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What package-lock.json says of a package, as far as it is looked at here. */
export interface LockedPackage {
  version?: string;
  /** The folder of a workspace that the entry links to; npm writes no registry's address (`.npmrc`). */
  resolved?: string;
  integrity?: string;
  link?: boolean;
  /** Lies in the archive of the package above it, and is covered by that one's digest. */
  inBundle?: boolean;
  hasInstallScript?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

/** The entries of package-lock.json by their paths; those of the workspaces have no `node_modules/` in them. */
export type Lock = Record<string, LockedPackage>;

const FOLDER = 'node_modules/';

/** Reads the lock file of a checkout. */
export function readLock(root: string): Lock {
  return (JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Lock }).packages;
}

/** The name of the package that a path holds. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
}

/** Where Node finds a package from a folder: in the nearest `node_modules` upwards; undefined where it is not locked. */
export function locate(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf(FOLDER) - 1, 0))) {
    const path = `${folder === '' ? '' : `${folder}/`}${FOLDER}${name}`;
    if (lock[path]) return path;
    if (folder === '') return undefined;
  }
}

/** The packages that come from a registry: neither workspaces and their links, nor what lies in another one's archive. */
export function fetched(lock: Lock): [path: string, LockedPackage][] {
  return Object.entries(lock).filter(
    ([path, { link, inBundle }]) => path.includes(FOLDER) && !link && !inBundle,
  );
}

/** A platform as npm's options name it. */
export interface Platform {
  os: string;
  cpu: string;
  libc?: string;
}

function admits(list: string[] | undefined, value: string | undefined): boolean {
  if (!list || value === undefined) return true;
  if (list.includes(`!${value}`)) return false;
  return list.includes(value) || list.every((entry) => entry.startsWith('!'));
}

/**
 * The packages that come in a binary for each platform: by the path of the package that chooses among them, the paths
 * of the binaries that this platform takes.
 */
export function binariesOn(lock: Lock, { os, cpu, libc }: Platform): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [path, { optionalDependencies = {} }] of Object.entries(lock)) {
    const binaries = Object.keys(optionalDependencies)
      .flatMap((name) => locate(lock, path, name) ?? [])
      .filter((binary) => lock[binary]?.os ?? lock[binary]?.cpu);
    if (binaries.length < 2) continue;
    const taken = binaries.filter((binary) => {
      const entry = lock[binary];
      return admits(entry?.os, os) && admits(entry?.cpu, cpu) && admits(entry?.libc, libc);
    });
    found.set(path, taken);
  }
  return found;
}
