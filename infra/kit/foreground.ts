import type { ChildProcess } from 'node:child_process';

/** Resolves when a program ends that works in this terminal; Ctrl-C is passed on to it. @returns its exit code */
export async function foreground(child: ChildProcess): Promise<number | null> {
  const stop = (): void => void child.kill('SIGINT');
  process.once('SIGINT', stop);
  try {
    return await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
  } finally {
    process.off('SIGINT', stop);
  }
}
