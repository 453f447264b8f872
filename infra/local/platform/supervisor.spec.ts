import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../services/child.ts';
import { Guardian } from '../services/guardian.ts';
import { commandLine } from '../services/orphans.ts';
import { Supervisor, type Ward } from './supervisor.ts';

let folder: string;
let guardian: Guardian;
let notes: string[];
let supervisor: Supervisor;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'supervisor-'));
  guardian = new Guardian();
  notes = [];
  supervisor = new Supervisor({ note: (line) => notes.push(line) });
});
afterEach(async () => {
  await supervisor.stop(['core', 'gateway'], 300);
  await supervisor.settled();
  await guardian.release();
  rmSync(folder, { recursive: true });
});

/** A shell that runs `script`; `beforeReady` may make its start fail or wait. */
function ward(name: string, script: string, beforeReady: () => Promise<void> = async () => undefined): Ward {
  return {
    name,
    start: async (began) => {
      began(
        await Child.start({
          name,
          command: '/bin/sh',
          args: ['-c', script],
          log: join(folder, `${name}.log`),
          stopSignal: 'SIGTERM',
          stage: 'app',
          guardian,
        }),
      );
      await beforeReady();
    },
  };
}

const IDLE = 'while :; do sleep 0.1; done';

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('It did not come true.');
    await new Promise((wait) => setTimeout(wait, 20));
  }
}

it('starts again what is killed, and says that it died, how, and that it is back', async () => {
  await supervisor.keep(ward('core', IDLE));
  const first = supervisor.pidOf('core') as number;
  process.kill(first, 'SIGKILL');
  await until(() => notes.some((note) => note.includes('is back')));
  expect(notes[0]).toMatch(/^core ended by itself \(SIGKILL\); it is started again\. Log: .*core\.log$/);
  expect(supervisor.pidOf('core')).not.toBe(first);
});

it('goes on trying with growing pauses while the start fails', async () => {
  let failures = 0;
  await supervisor.keep(
    ward('core', IDLE, async () => {
      failures += 1;
      if (failures > 1 && failures < 4) throw new Error('The database is away.');
    }),
  );
  process.kill(supervisor.pidOf('core') as number, 'SIGKILL');
  await until(() => notes.some((note) => note.includes('is back')));
  const tries = notes.filter((note) => note.includes('did not start'));
  expect(tries).toEqual([
    'core did not start; the next try is in 0.4 s. The database is away.',
    'core did not start; the next try is in 0.8 s. The database is away.',
  ]);
});

it('throws where the first start fails, and leaves no process after the stop', async () => {
  const failing = supervisor.keep(
    ward('core', IDLE, async () => {
      throw new Error('never ready');
    }),
  );
  await expect(failing).rejects.toThrow('never ready');
  const pid = supervisor.pidOf('core') as number;
  await supervisor.stop(['core', 'gateway'], 300);
  expect(commandLine(pid)).toBeUndefined();
  expect(notes).toEqual([]);
});

it('ends what takes too long to end by itself, and starts nothing again after a stop', async () => {
  await supervisor.keep(ward('core', `trap '' TERM; ${IDLE}`));
  await supervisor.keep(ward('gateway', IDLE));
  const pids = [supervisor.pidOf('core'), supervisor.pidOf('gateway')] as number[];
  await supervisor.stop(['core', 'gateway'], 300);
  await supervisor.settled();
  expect(pids.map((pid) => commandLine(pid))).toEqual([undefined, undefined]);
  expect(notes).toEqual(['core did not end by itself and was killed.']);
});

it('ends also what is just being started again when the stop comes', async () => {
  let ready: (() => void) | undefined;
  let starts = 0;
  await supervisor.keep(
    ward('core', IDLE, async () => {
      starts += 1;
      if (starts > 1) await new Promise<void>((resolve) => (ready = resolve));
    }),
  );
  process.kill(supervisor.pidOf('core') as number, 'SIGKILL');
  await until(() => ready !== undefined);
  const second = supervisor.pidOf('core') as number;
  await supervisor.stop(['core', 'gateway'], 300);
  ready?.();
  await supervisor.settled();
  expect(commandLine(second)).toBeUndefined();
  expect(supervisor.pidOf('core')).toBeUndefined();
});
