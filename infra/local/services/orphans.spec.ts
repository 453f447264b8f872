import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { commandLine, endOrphan, whoIs } from './orphans.ts';

const MARK = `/Users/${'someone/'.repeat(20)}l'été/.data/postgres/cluster`;
const running: ChildProcess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

function started(...words: string[]): number {
  const child = spawn('/bin/sh', ['-c', 'while :; do sleep 0.1; done', ...words], { stdio: 'ignore' });
  running.push(child);
  return child.pid as number;
}

/** As on a system without /proc, in a terminal of 79 columns and a locale without accents. */
function asOnMacOs(pid: number): string {
  const script = `import { commandLine } from ${JSON.stringify(join(import.meta.dirname, 'orphans.ts'))};
    process.stdout.write(commandLine(Number(process.argv[1]), false) ?? 'nobody');`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script, String(pid)], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], COLUMNS: '79', LC_ALL: 'C' },
  });
}

describe('what runs under a number', () => {
  it('is told whole, by /proc or by ps', () => {
    const pid = started('postgres', '-D', MARK);
    expect(commandLine(pid)).toContain(MARK);
    expect(asOnMacOs(pid)).toContain(`-D ${MARK}`);
  });

  it('is nobody where nothing does', async () => {
    const pid = started();
    running[0]?.kill('SIGKILL');
    await once(running[0] as ChildProcess, 'exit');
    expect(commandLine(pid)).toBeUndefined();
    expect(asOnMacOs(pid)).toBe('nobody');
    expect(whoIs(pid, 'postgres', MARK)).toBe('gone');
  });

  it('is one of ours, another program, or cannot be told', () => {
    expect(whoIs(started('postgres', '-D', MARK), 'postgres', MARK)).toBe('ours');
    expect(whoIs(process.pid, 'postgres', MARK)).toBe('another');
    expect(whoIs(started('postgres:', 'checkpointer'), 'postgres', MARK)).toBe('unclear');
  });

  it('is ended only where its command line says that it is meant', async () => {
    const pid = started('postgres', '-D', MARK);
    expect(await endOrphan(pid, '/of/another', 'SIGTERM')).toBe(false);
    expect(commandLine(pid)).toBeDefined();
    expect(await endOrphan(pid, MARK, 'SIGTERM')).toBe(true);
    expect(commandLine(pid)).toBeUndefined();
  });
});
