import { realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** What the specs of published packages are run with beside this Node, where it is on the PATH. */
const RUNTIMES = ['node', 'bun', 'deno'] as const;

/** A program that runs JavaScript. */
export interface Runtime {
  readonly name: (typeof RUNTIMES)[number];
  readonly path: string;
}

/**
 * Every Node, Bun and Deno of this machine's PATH, each once: it may have several of one.
 * @throws Error where one of those is missing that `RUNTIMES` names, by commas
 */
export async function runtimes(): Promise<readonly Runtime[]> {
  const found = new Map<string, Runtime>();
  for (const directory of (process.env['PATH'] ?? '').split(delimiter))
    for (const name of RUNTIMES) {
      const path = await realpath(join(directory, name)).catch(() => '');
      if (path !== '') found.set(path, { name, path });
    }
  const all = [...found.values()];
  const asked = (process.env['RUNTIMES'] ?? 'node').split(',');
  const missing = asked.filter((name) => !all.some((runtime) => runtime.name === name));
  if (missing.length > 0) throw new Error(`Not on the PATH: ${missing.join(', ')}`);
  return all;
}

/** What goes before the program's name: Deno lets it do nothing that it was not told to. */
export function wordsFor({ name }: Runtime, ...allowed: readonly string[]): string[] {
  return name === 'deno' ? ['run', ...allowed.map((each) => `--allow-${each}`)] : [];
}
