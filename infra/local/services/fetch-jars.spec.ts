import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyByMaven, fetchJars, jarRepository, jarsIn } from './fetch-jars.ts';

const BYTES = 'the bytes of a jar';
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

let folder: string;
let server: Server;
let repository: string;
let asked: string[];
let failures: number;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (failures-- > 0) response.writeHead(503).end();
    else response.end(BYTES);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  repository = `http://127.0.0.1:${(server.address() as AddressInfo).port}/maven2/`;
});
afterAll(() => server.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fetch-jars-'));
  asked = [];
  failures = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('fetchJars', () => {
  it('fetches what the lock names, by its coordinates', async () => {
    const lock = file('jars.lock', `# of a test\norg.example.parts:part:1.2 ${SHA256}\n`);
    await fetchJars(lock, join(folder, 'jars'), repository);
    expect(readFileSync(join(folder, 'jars/part-1.2.jar'), 'utf8')).toBe(BYTES);
    expect(asked).toEqual(['/maven2/org/example/parts/part/1.2/part-1.2.jar']);
  });

  it('refuses a jar with another checksum', async () => {
    const lock = file('jars.lock', `org.example:part:1.2 ${'0'.repeat(64)}\n`);
    await expect(fetchJars(lock, join(folder, 'jars'), repository)).rejects.toThrow(
      'part-1.2.jar has another checksum',
    );
  });

  it('asks again when the repository fails, and tells its answer when it goes on failing', async () => {
    const lock = file('jars.lock', `org.example:part:1.2 ${SHA256}\n`);
    failures = 2;
    await fetchJars(lock, join(folder, 'jars'), repository);
    failures = 3;
    await expect(fetchJars(lock, join(folder, 'jars'), repository)).rejects.toThrow(
      'part-1.2.jar could not be read: it answered 503',
    );
  });

  it('reads the lock of Kafka whole, and no line that it does not understand', () => {
    expect(jarsIn(join(import.meta.dirname, '../kafka/jars.lock'))).toHaveLength(46);
    expect(() => jarsIn(file('jars.lock', 'org.example:part:1.2\n'))).toThrow('names no jar');
  });
});

describe('jarRepository', () => {
  const mirror = (of: string, url: string): string =>
    `<mirror><id>one</id><mirrorOf>${of}</mirrorOf><url> ${url} </url></mirror>`;

  it('is the one of the environment before any other', () => {
    const settings = file('settings.xml', mirror('*', 'http://mirror.test/jars'));
    expect(jarRepository({ MAVEN_REPOSITORY: 'http://own.test/jars' }, settings)).toBe(
      'http://own.test/jars/',
    );
  });

  it.each(['*', 'external:*', 'central', 'other, central'])('is the mirror of %s', (of) => {
    const settings = file(
      'settings.xml',
      mirror('other', 'http://no.test') + mirror(of, 'http://mirror.test/'),
    );
    expect(jarRepository({}, settings)).toBe('http://mirror.test/');
  });

  it.each(['other', '*,!central', 'external:http:*'])('is the public one beside a mirror of %s', (of) => {
    const commented = `<!-- ${mirror('*', 'http://no.test')} -->`;
    expect(
      jarRepository({}, file('settings.xml', commented + mirror(of, 'http://mirror.test'))),
    ).toBeUndefined();
    expect(jarRepository({}, join(folder, 'none.xml'))).toBeUndefined();
  });
});

describe('copyByMaven', () => {
  /** A Maven that puts one jar where it is told to, or fails as Maven does. */
  function maven(script: string): NodeJS.ProcessEnv {
    const path = file(
      'mvn',
      `#!/bin/sh\nfor each; do case "$each" in -DoutputDirectory=*) to="\${each#*=}";; esac; done\n${script}\n`,
    );
    chmodSync(path, 0o755);
    return { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  }

  it('has Maven copy what the lock names, and refuses a jar with another checksum', () => {
    const env = maven(`mkdir -p "$to" && printf '%s' '${BYTES}' > "$to/part-1.2.jar"`);
    const lock = file('jars.lock', `org.example.parts:part:1.2 ${SHA256}\n`);
    copyByMaven(lock, join(folder, 'jars'), env);
    expect(readFileSync(join(folder, 'jars/part-1.2.jar'), 'utf8')).toBe(BYTES);
    const other = file('other.lock', `org.example.parts:part:1.2 ${'0'.repeat(64)}\n`);
    expect(() => copyByMaven(other, join(folder, 'jars'), env)).toThrow('part-1.2.jar has another checksum');
  });

  it('tells what Maven complains of', () => {
    const env = maven('echo "[ERROR] nobody is there"; exit 1');
    const lock = file('jars.lock', `org.example:part:1.2 ${SHA256}\n`);
    expect(() => copyByMaven(lock, join(folder, 'jars'), env)).toThrow(
      /fetch the jars of .*: nobody is there/,
    );
  });
});

describe('the program', () => {
  it('asks Node where Maven cannot, and tells the complaints of both', async () => {
    const bin = join(folder, 'bin');
    mkdirSync(join(folder, '.m2'));
    mkdirSync(bin);
    writeFileSync(
      join(bin, 'mvn'),
      '#!/bin/sh\n[ "$1" = --version ] && exit\necho "[ERROR] no way out"; exit 1\n',
      {
        mode: 0o755,
      },
    );
    const mirror = `<mirror><mirrorOf>*</mirrorOf><url>${repository}</url></mirror>`;
    writeFileSync(join(folder, '.m2/settings.xml'), mirror);
    const run = (lock: string) =>
      promisify(execFile)(
        process.execPath,
        [join(import.meta.dirname, 'fetch-jars.ts'), lock, join(folder, 'jars')],
        {
          env: { HOME: folder, PATH: bin },
        },
      );
    await run(file('jars.lock', `org.example.parts:part:1.2 ${SHA256}\n`));
    expect(readFileSync(join(folder, 'jars/part-1.2.jar'), 'utf8')).toBe(BYTES);
    await expect(run(file('other.lock', `org.example:part:1.2 ${'0'.repeat(64)}\n`))).rejects.toMatchObject({
      stderr: expect.stringMatching(/no way out; and without Maven part-1\.2\.jar has another checksum/),
    });
  });
});
