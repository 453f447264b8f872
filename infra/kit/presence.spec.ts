import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claim, holderOf } from './presence.mjs';

let folder: string;
let file: string;
const left: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'presence-'));
  file = join(folder, 'taken');
});
afterEach(() => {
  for (const end of left.splice(0)) end();
  rmSync(folder, { recursive: true });
});

/** Another process that takes the file. */
async function taker() {
  const script = `import { claim } from ${JSON.stringify(join(import.meta.dirname, 'presence.mjs'))};
    const { holder } = await claim(process.argv[1], 'npm start');
    console.log(holder ? holder.pid : 'mine');
    setInterval(() => undefined, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  left.push(() => child.kill('SIGKILL'));
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, pid: child.pid as number, said: said.toString().trim() };
}

describe('a file that one process has', () => {
  it('is refused to a second while the first lives, and free when that was killed', async () => {
    const { child, pid, said } = await taker();
    expect(said).toBe('mine');
    expect(await claim(file, 'npm test')).toEqual({
      holder: expect.objectContaining({ pid, name: 'npm start', answers: true }),
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { release } = await claim(file, 'npm test');
    release?.();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is one’s own however often it is taken, and has one of many that come at once', async () => {
    const takers = await Promise.all([taker(), taker(), taker()]);
    expect(takers.filter(({ said }) => said === 'mine')).toHaveLength(1);
    for (const { child } of takers) child.kill('SIGKILL');
    for (const { child } of takers)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const [first, second] = [await claim(file, 'npm start'), await claim(file, 'npm start')];
    expect(second.holder).toBeUndefined();
    second.release?.();
    expect(existsSync(file)).toBe(true);
    first.release?.();
    expect(existsSync(file)).toBe(false);
  });

  it('stays that of a stopped process, which cannot answer', async () => {
    const { child, pid } = await taker();
    child.kill('SIGSTOP');
    expect(await holderOf(file)).toMatchObject({ pid, answers: false });
  });

  it('is free where its process lives under a number given anew', async () => {
    const stranger = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request'));
    left.push(() => stranger.close());
    await once(stranger.listen(0, '127.0.0.1'), 'listening');
    const { port } = stranger.address() as AddressInfo;
    for (const content of [
      JSON.stringify({ pid: process.pid, port, word: 'of another' }),
      JSON.stringify({ pid: process.pid, port: 1, word: 'nobody listens' }),
      JSON.stringify({ pid: 2 ** 22 + 1, port, word: 'gone' }),
      '{"pid":',
      '',
    ]) {
      writeFileSync(file, content);
      expect(await holderOf(file)).toBeUndefined();
      expect(existsSync(file)).toBe(false);
    }
  });

  it('of a release before names a process alone: who lives has it, in doubt', async () => {
    writeFileSync(file, String(process.pid));
    expect(await holderOf(file)).toEqual({ pid: process.pid, answers: false });
  });
});
