import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './platform/modules.ts';

/** The shell commands of a page that use the running platform, block by block. */
export function documentedCommands(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gmu)].map(([, commands = '']) => commands);
  return blocks.filter((commands) => commands.includes('curl'));
}

/** The shells of this machine that people paste into. */
export const SHELLS = ['bash', 'zsh', 'fish'].filter(
  (shell) => spawnSync(shell, ['-c', 'true']).status === 0,
);

/** Pastes commands into one shell in a clone whose data are in `data`. @returns what they print */
export function pasteInClone(
  data: string,
  commands: string,
  shell: readonly string[] = ['/bin/sh', '-e'],
): string {
  const [program = '', ...options] = shell;
  const clone = mkdtempSync(join(tmpdir(), 'pasted-'));
  try {
    symlinkSync(data, join(clone, '.data'));
    return execFileSync(program, [...options, '-c', commands], {
      cwd: clone,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}
