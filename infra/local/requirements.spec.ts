import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findJava, freeMebibytes, fullDiskSentence, requireDisk, requireNode } from './requirements.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'requirements-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program of this name that prints a line, first on the path. */
function program(name: string, line: string): NodeJS.ProcessEnv {
  writeFileSync(join(folder, name), `#!/bin/sh\necho '${line}' >&2\n`);
  chmodSync(join(folder, name), 0o755);
  return { PATH: folder };
}

it('Node 16 is too old', () => {
  expect(() => requireNode('16.0.0')).toThrow('Node 16.0.0 is too old');
});

it('Node 20 will do', () => requireNode('20.0.0'));

it.each([
  ['openjdk version "11.0.2" 2019-01-15', 'Java 11 (java) is too old for Kafka'],
  ['java version "1.8.0_202"', 'Java 8 (java) is too old for Kafka'],
])('%s is too old', (line, sentence) => {
  expect(() => findJava(program('java', line))).toThrow(sentence);
});

it.each(['openjdk version "17.0.15" 2025-04-15', 'java version "25" 2025-09-16'])('%s will do', (line) => {
  expect(findJava(program('java', line))).toBe('java');
});

it('a full disk is told with its place and what is needed', () => {
  expect(() => requireDisk(folder, 1_024, 12)).toThrow(
    `The disk is full: ${folder} has 12 MB left and 1024 MB are needed`,
  );
  expect(() => requireDisk(folder, 1_024, 4_096)).not.toThrow();
  expect(freeMebibytes(join(folder, 'not', 'yet'))).toBe(freeMebibytes(folder));
});

it('an error of a full disk is known by its code and by its words', () => {
  expect(fullDiskSentence(Object.assign(new Error('write'), { code: 'ENOSPC' }))).toMatch(
    /^The disk is full/,
  );
  expect(fullDiskSentence(new Error('PANIC: could not write: No space left on device'))).toMatch(
    /^The disk is full/,
  );
  expect(fullDiskSentence(new Error('something else'))).toBeUndefined();
});
