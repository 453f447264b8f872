/** What a person reads where something outside is wrong: one line that says what, and what to do. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PortChoice } from '@customer-platform/kit/ports.ts';
import { readOptions } from './platform/options.ts';
import { requireBrokers } from './platform/platform.ts';
import { requireServer } from './platform/databases.ts';
import { findJava, requireDisk, requireNode, requireSystem } from './requirements.mjs';
import { Child, waitUntilReady } from './services/child.ts';
import { Guardian } from './services/guardian.ts';

let folder: string;
let guardian: Guardian;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'failures-'));
  guardian = new Guardian();
});
afterAll(async () => {
  await guardian.release();
  rmSync(folder, { recursive: true });
});

/** A child that says this and ends at once. */
async function ending(words: string): Promise<void> {
  const child = await Child.start({
    name: 'Kafka',
    command: '/bin/sh',
    args: ['-c', 'printf "%s\\n" "$0" >&2; exit 3', words],
    log: join(folder, `${String(words.length)}.log`),
    stopSignal: 'SIGTERM',
    stage: 'service',
    guardian,
  });
  await waitUntilReady(child, () => Promise.resolve(false), 60);
}

/** A folder whose `java` says this. */
function javaOf(said: string): NodeJS.ProcessEnv {
  const bin = mkdtempSync(join(folder, 'bin-'));
  writeFileSync(join(bin, 'java'), `#!/bin/sh\necho '${said}' >&2\n`);
  chmodSync(join(bin, 'java'), 0o755);
  return { PATH: bin };
}

const NOWHERE = '127.0.0.1:1';
const FAILURES: readonly (readonly [what: string, meet: () => unknown, line: RegExp])[] = [
  ['an old Node', () => requireNode('18.20.4'), /^Node 18.20.4 is too old: install Node 20 or newer/],
  ['Windows', () => requireSystem('win32'), /^Windows is supported by WSL alone: install it/],
  [
    'no Java',
    () => findJava({ PATH: folder }, []),
    /^Java is missing .*brew install openjdk\).*PLATFORM_KAFKA_BROKERS/,
  ],
  [
    'the stub of macOS that stands for no Java',
    () => findJava(javaOf('The operation couldn’t be completed. Unable to locate a Java Runtime.'), []),
    /^Java is missing and Kafka needs it/,
  ],
  [
    'an old Java',
    () => findJava(javaOf('java version "1.8.0_202"'), []),
    /^Java 8 \(java\) is too old for Kafka/,
  ],
  [
    'a full disk before',
    () => requireDisk(folder, 1_024, 12),
    /^The disk is full: .* 12 MB left and 1024 MB are needed/,
  ],
  [
    'a port that was taken meanwhile',
    () => ending('java.net.BindException: Address already in use'),
    /start again, and it takes a free one\. Its log is /,
  ],
  [
    'data of another release',
    () => ending('FATAL:  database files are incompatible with server'),
    /start that one, or begin anew with --reset\. Its log is /,
  ],
  [
    'a full disk meanwhile',
    () => ending('write failed: No space left on device'),
    /the disk is full .*: free some space/,
  ],
  [
    'too little memory',
    () => ending('Native memory allocation failed: Cannot allocate memory'),
    /too little memory is left: end other programs/,
  ],
  [
    'a child that ends at once',
    () => ending('first\nsecond'),
    /^Kafka ended while it was starting \(code 3\): it said first second\. Its log is /,
  ],
  [
    'a database server that is away',
    () => requireServer(`postgres://me:secret@${NOWHERE}/x`),
    /^The PostgreSQL of PLATFORM_DATABASE_URL \(127.0.0.1:1 as me\) does not serve .*unset it to use ours\.$/,
  ],
  [
    'brokers that are away',
    () => requireBrokers(NOWHERE),
    /^No Kafka broker of PLATFORM_KAFKA_BROKERS .*unset it to use ours\.$/,
  ],
  [
    '--reset with a server of one’s own',
    () => readOptions(['--reset'], { PLATFORM_DATABASE_URL: 'postgres://db' }),
    /^--reset empties the data folder and nothing else/,
  ],
];

it.each(FAILURES)('%s: one line that says what and what to do', async (_what, meet, line) => {
  const message = await Promise.resolve()
    .then(meet)
    .then(
      () => 'nothing was wrong',
      (error: Error) => error.message,
    );
  expect(message).toMatch(line);
  expect(message).not.toContain('\n');
  expect(message).not.toContain('secret');
});

it('a Java of Homebrew, on no path, is found, and one of release 25 will do', () => {
  const { PATH: bin = '' } = javaOf('openjdk version "25.0.1" 2025-10-21');
  expect(findJava({ PATH: folder }, [join(bin, 'java')])).toBe(join(bin, 'java'));
});

it('the highest port taken is no end: another is found', async () => {
  const highest = createServer();
  await new Promise<void>((done) => highest.once('error', () => done()).listen(65_535, '127.0.0.1', done));
  try {
    expect(await new PortChoice().preferred(65_535)).toBeLessThan(65_535);
  } finally {
    highest.close();
  }
});
