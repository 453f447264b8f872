import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { freePorts, type AppProcess, WORKSPACE } from '../src/app-process.js';
import { commandProcess, runCommand } from '../src/command-process.js';

const PROGRAM = `
const [word, ...more] = process.argv.slice(2);
if (word === 'throw') throw new Error('It is broken.');
process.stdout.write(word === 'refuse' ? '' : [word, process.env.GIVEN, ...more].join(' ') + '\\n');
if (word === 'refuse') process.stderr.write('It is refused.\\n');
if (word === 'late') setTimeout(() => process.stdout.write('after all\\n'), 1);
process.exitCode = word === 'refuse' ? 2 : 0;
`;

let folder: string;
let running: AppProcess;
let run: (...words: string[]) => Promise<unknown>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'command-process-'));
  const program = join(folder, 'program.mjs');
  writeFileSync(program, PROGRAM);
  const [port = 0] = await freePorts(1);
  running = commandProcess('commands', relative(WORKSPACE, program), port, { GIVEN: 'given' });
  await running.ready();
  run = (...words) => runCommand(port, words);
});
afterAll(async () => {
  await running.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a process of commands', () => {
  it('runs one after another, each with its own words, output and status', async () => {
    const ended = await Promise.all([run('show', 'a'), run('refuse'), run('show', 'b')]);
    expect(ended).toEqual([
      { status: 0, output: 'show given a\n' },
      { status: 2, output: 'It is refused.\n' },
      { status: 0, output: 'show given b\n' },
    ]);
  });

  it('answers once nothing of the command is left, as its own process would end', async () => {
    expect(await run('late')).toEqual({ status: 0, output: 'late given\nafter all\n' });
  });

  it('says of a command that throws that it did, and goes on', async () => {
    await expect(run('throw')).rejects.toThrow('It is broken.');
    expect(await run('show')).toMatchObject({ status: 0 });
  });
});
