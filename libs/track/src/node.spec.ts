import { spawn, type ChildProcess } from 'node:child_process';
import {
  appendFile,
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildAll } from '@customer-platform/testing';
import { createFileTracker, QueueInUseError, type FileTrackerOptions } from './node.js';
import { Receiver } from './receiver.fixture.js';
import type { Tracker } from './tracker.js';

let receiver: Receiver;
let folder: string;
let file: string;
const open = new Set<Tracker>();
beforeAll(() => buildAll());
beforeEach(async () => {
  receiver = await Receiver.start();
  folder = await mkdtemp(join(tmpdir(), 'track-queue-'));
  file = join(folder, 'events.queue');
});
afterEach(async () => {
  for (const tracker of open) await tracker.close();
  open.clear();
  await receiver.stop();
  await rm(folder, { recursive: true });
});

async function aTracker(options: Partial<FileTrackerOptions> = {}): Promise<Tracker> {
  const usual = {
    url: receiver.url,
    key: 'cpk_live_test',
    externalId: 'person-1',
    flushAfterMs: 3_600_000,
    file,
  };
  const tracker = await createFileTracker({ ...usual, ...options });
  open.add(tracker);
  return tracker;
}

/** As after kill -9: the file as it is, and nobody who has it open. */
async function left(tracker: Tracker): Promise<string> {
  const content = await readFile(file, 'utf8');
  receiver.fault = () => ({ status: 503 });
  await tracker.close();
  open.delete(tracker);
  receiver.fault = () => undefined;
  await writeFile(file, content);
  return content;
}

describe('a queue in a file', () => {
  it('has each event when its call resolves, and sends what an earlier process left', async () => {
    const first = await aTracker();
    expect(await Promise.all(['a', 'b'].map((name) => first.track(name)))).toEqual(['stored', 'stored']);
    const content = await left(first);
    expect(content.match(/"event":"[ab]"/g)).toHaveLength(2);
    const second = await aTracker();
    expect(second.counts.queued).toBe(2);
    expect(await second.flush()).toMatchObject({ queued: 0, delivered: 2 });
    expect(receiver.names).toEqual(['a', 'b']);
    await second.close();
    expect((await aTracker()).counts.queued).toBe(0);
  });

  it.each([1, 5, 40, 200])('loses nothing to a last line that ends after %i of its bytes', async (length) => {
    const first = await aTracker();
    await first.track('whole');
    const content = await left(first);
    await appendFile(file, `${content.slice(0, length)}`.replaceAll('\n', ''));
    const second = await aTracker();
    await second.track('next');
    await left(second);
    await (await aTracker()).flush();
    expect(receiver.names).toEqual(['next', 'whole']);
  });

  it('tells of lines that the disk has altered, and keeps the others', async () => {
    const first = await aTracker();
    for (const name of ['a', 'b', 'c']) await first.track(name);
    const content = await left(first);
    await writeFile(file, content.replace('"event":"b"', '"event":"B"'));
    const failures: unknown[] = [];
    await (await aTracker({ onFailure: (failure) => failures.push(failure) })).flush();
    expect(failures).toEqual([{ code: 'queue_damaged', status: 0, retryInMs: 0 }]);
    expect(receiver.names).toEqual(['a', 'c']);
  });

  it('does not grow with what has left it', async () => {
    const tracker = await aTracker({ fsync: false });
    const text = 'x'.repeat(30_000);
    for (let round = 0; round < 12; round += 1) {
      await Promise.all(Array.from({ length: 20 }, () => tracker.track('a', { text })));
      await tracker.flush();
    }
    await tracker.track('last');
    expect((await stat(file)).size).toBeLessThan(2 ** 21);
    expect(receiver.events).toHaveLength(240);
    expect((await stat(file)).mode & 0o077).toBe(0);
  });

  it('that cannot be written any more keeps in memory, and says so', async () => {
    const tracker = await aTracker();
    const handle = (tracker as unknown as { store: { file: { appendFile(): Promise<void> } } }).store.file;
    const write = handle.appendFile.bind(handle);
    handle.appendFile = () => Promise.reject(new Error('ENOSPC'));
    expect(await tracker.track('a')).toBe('memory');
    handle.appendFile = write;
    expect(await tracker.track('b')).toBe('stored');
    expect(await tracker.flush()).toMatchObject({ queued: 0, delivered: 2 });
  });
});

/** Opens the queue in a process none of whose files may be larger than so many blocks: what is written beyond fails. */
const LIMITED = `const { createFileTracker } = await import(process.argv[1]);
const failures = [];
const tracker = await createFileTracker({
  url: process.argv[2], key: 'k', externalId: 'p', file: process.argv[3], flushAfterMs: 3_600_000,
  onFailure: ({ code }) => failures.push(code),
});
const kept = await tracker.track('next');
const { queued, delivered } = await tracker.close();
console.log(JSON.stringify({ failures, kept, queued, delivered }));`;

async function limitedTo(blocks: number): Promise<unknown> {
  const dist = join(import.meta.dirname, '../dist/node.js');
  const script = `ulimit -f ${blocks}; exec "$0" --input-type=module -e "$1" "$2" "$3" "$4"`;
  const words = ['-c', script, process.execPath, LIMITED, dist, receiver.url, file];
  const child = spawn('/bin/sh', words, { env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(await firstLine(child));
}

describe('on a disk that is full when the queue is opened', () => {
  it('what is there is read and sent, and what comes is sent from memory', async () => {
    const first = await aTracker();
    await first.track('left', { text: 'x'.repeat(20_000) });
    const content = await left(first);
    await appendFile(file, content.slice(0, 40));
    expect(await limitedTo(4)).toEqual({ failures: [], kept: 'memory', queued: 0, delivered: 2 });
    expect(receiver.names.sort()).toEqual(['left', 'next']);
    expect((await readdir(folder)).filter((name) => name.endsWith('.new'))).toEqual([]);
    // The next one finds the lock left, and what was delivered comes back: its key makes it one.
    expect(await (await aTracker()).flush()).toMatchObject({ queued: 0, dropped: {} });
    expect(receiver.events).toHaveLength(2);
  });

  it('without room for a lock the queue is in memory, is told so, and leaves nothing behind', async () => {
    expect(await limitedTo(0)).toEqual({
      failures: ['queue_unwritable'],
      kept: 'memory',
      queued: 0,
      delivered: 1,
    });
    expect(receiver.names).toEqual(['next']);
    expect(await readdir(folder)).toEqual([]);
    await (await aTracker()).track('later');
  });

  it('its next lines begin on a line of their own', async () => {
    const first = await aTracker();
    await first.track('left');
    const content = await left(first);
    await appendFile(file, content.slice(0, 40));
    await mkdir(join(`${file}.new`, 'in the way'), { recursive: true });
    const second = await aTracker();
    expect(await second.track('next')).toBe('stored');
    await left(second);
    await (await aTracker()).flush();
    expect(receiver.names.sort()).toEqual(['left', 'next']);
  });
});

describe('in a folder into which others write', () => {
  it('no link leads the queue elsewhere', async () => {
    const other = join(folder, 'other');
    await writeFile(other, 'of somebody else');
    await symlink(other, `${file}.new`);
    await (await aTracker()).track('a');
    expect(await readFile(other, 'utf8')).toBe('of somebody else');
    expect((await lstat(file)).isFile()).toBe(true);
  });

  it('a link in place of the queue is refused, and neither read nor written', async () => {
    const other = join(folder, 'other');
    await writeFile(other, 'of somebody else');
    await symlink(other, file);
    await expect(aTracker()).rejects.toMatchObject({ code: 'ELOOP' });
    expect(await readFile(other, 'utf8')).toBe('of somebody else');
    await rm(file);
    expect(await (await aTracker()).track('a')).toBe('stored');
  });

  it.each(['.new', ''])('a file %s that all may read becomes one that its owner alone may', async (end) => {
    await writeFile(`${file}${end}`, '');
    await chmod(`${file}${end}`, 0o666);
    await (await aTracker()).track('a');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });
});

describe('the lock', () => {
  const held = (pid: number, more: object = {}): Promise<void> =>
    writeFile(`${file}.lock.7`, JSON.stringify({ pid, host: hostname(), began: '', ...more }));

  it('is held by one tracker of this process until it is closed', async () => {
    const first = await aTracker();
    await expect(aTracker()).rejects.toThrow(QueueInUseError);
    await first.close();
    await (await aTracker()).close();
    expect((await readdir(folder)).sort()).toEqual(['events.queue', 'events.queue.lock.2']);
  });

  it('is held by another process while that runs, and by none that is gone', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const began = (await readFile(`/proc/${child.pid ?? 0}/stat`, 'utf8')).split(') ')[1]?.split(' ')[19];
    await held(child.pid ?? 0, { began });
    await expect(aTracker()).rejects.toThrow(/in use/);
    // Another process has got the number of one that is gone.
    await held(child.pid ?? 0, { began: '1' });
    await (await aTracker()).close();
    await held(child.pid ?? 0, { began });
    await rm(`${file}.lock.8`);
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
    await aTracker();
  });

  it('of another machine is held while that is heard of', async () => {
    await held(1, { host: 'elsewhere' });
    await expect(aTracker()).rejects.toThrow(QueueInUseError);
  });

  it('of a process that is gone is taken by one of many', async () => {
    await held(2 ** 22 + 1);
    const script = `const { createFileTracker } = await import(process.argv[1]);
      await createFileTracker({ url: 'http://127.0.0.1:9', key: 'k', file: process.argv[2] })
        .then(() => console.log('mine'), ({ name }) => console.log(name));
      setInterval(() => {}, 1000);`;
    const dist = join(import.meta.dirname, '../dist/node.js');
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', script, dist, file], { env: {} }),
    );
    const said = await Promise.all(children.map((child) => firstLine(child)));
    expect(said.sort()).toEqual(['QueueInUseError', 'QueueInUseError', 'QueueInUseError', 'mine']);
    for (const child of children) child.kill('SIGKILL');
  });
});

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no output');
  for await (const text of createInterface({ input: child.stdout })) return text;
  throw new Error('The process said nothing');
}

/** Sends as fast as it can and says which events are stored, until it is killed. */
const SENDER = `const { createFileTracker } = await import(process.argv[1]);
const tracker = await createFileTracker({
  url: process.argv[2], key: 'k', externalId: 'person-1', file: process.argv[3], flushAfterMs: 1, flushAt: 20,
});
for (let i = 0; ; i += 1) {
  const name = process.argv[4] + '-' + i;
  if ((await tracker.track(name)) === 'stored') process.stdout.write(name + '\\n');
}`;

describe('a sender that is killed', () => {
  it('loses none of the events that were stored, and doubles none', async () => {
    const dist = join(import.meta.dirname, '../dist/node.js');
    const confirmed: string[] = [];
    // Some answers are lost as well, so that what was taken is sent again.
    receiver.fault = () => (receiver.batches.length % 3 === 0 ? { status: 'taken' } : undefined);
    for (const [round, most] of [3, 50, 200, 400, 20].entries()) {
      const words = ['--input-type=module', '-e', SENDER, dist, receiver.url, file, String(round)];
      const child = spawn(process.execPath, words, { env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((done) => child.once('exit', done));
      let lines = 0;
      for await (const name of createInterface({ input: child.stdout })) {
        confirmed.push(name);
        lines += 1;
        if (lines === most) child.kill('SIGKILL');
      }
      await ended;
      expect(lines).toBeGreaterThanOrEqual(most);
    }
    receiver.fault = () => undefined;
    const tracker = await aTracker();
    expect(await tracker.flush()).toMatchObject({ queued: 0 });
    const names = receiver.names;
    expect(confirmed.filter((name) => !names.includes(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });
});
