import { createProjectGraphAsync } from '@nx/devkit';

/** A part of the workspace that is linted as one. */
export interface Part {
  name: string;
  /** Folder from the workspace root. */
  root: string;
  /** Names of the parts whose types it sees, directly. */
  sees: string[];
}

/**
 * Computes Nx's project graph and writes it where `@nx/enforce-module-boundaries` reads it: without it that rule
 * passes everything in silence.
 */
export async function refreshProjectGraph(): Promise<Part[]> {
  process.env['NX_DAEMON'] = 'false';
  const { nodes, dependencies } = await createProjectGraphAsync({ exitOnError: false });
  return Object.values(nodes).map(({ name, data }) => ({
    name,
    root: data.root,
    sees: (dependencies[name] ?? []).map(({ target }) => target).filter((target) => target in nodes),
  }));
}
