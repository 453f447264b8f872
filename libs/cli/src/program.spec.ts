import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Argument, Option } from 'commander';
import { CommandRefusal, EXIT, type ExitCode } from './exit-codes.js';
import { runPlatform, type CommandGroup, type Given } from './program.js';

const level = log.level;
afterEach(() => {
  log.level = level;
});

interface Ran {
  code: ExitCode;
  out: string;
  error: string;
}

const doors = (run: (given: Given<{ wide?: string }>) => Promise<ExitCode>) => (): CommandGroup => ({
  name: 'doors',
  summary: 'what is open',
  commands: [
    {
      name: 'open',
      summary: 'opens a door',
      details: 'And leaves it open.',
      argument: new Argument('<door>', 'which one'),
      dashes: true,
      options: [new Option('--wide <cm>', 'how wide').default('80')],
      environment: { DATABASE_URL: 'where it is' },
      found: 'it was open',
      exists: 'there is no such wall',
      run,
    },
  ],
});

async function platform(
  args: string[],
  run: (given: Given<{ wide?: string }>) => Promise<ExitCode> = () => Promise.resolve(EXIT.done),
): Promise<Ran> {
  let [out, error] = ['', ''];
  const code = await runPlatform({
    module: 'core',
    commands: [doors(run)],
    args,
    write: (text) => (out += text),
    writeError: (text) => (error += text),
  });
  return { code, out, error };
}

describe('an operators’ program', () => {
  it('tells what there is, level by level', async () => {
    const top = await platform(['--help']);
    expect(top).toMatchObject({ code: 0, error: '' });
    expect(top.out).toContain('node apps/core/dist/platform.js');
    expect(top.out).toMatch(/doors +what is open/);
    expect((await platform(['doors', '-h'])).out).toMatch(/open \[options\] <door> +opens a door/);
    const { out } = await platform(['doors', 'open', '--help']);
    expect(out).toMatch(
      /^Usage: platform doors open \[options\] <door>\n\nopens a door\n\nAnd leaves it open\./,
    );
    expect(out).toMatch(/--wide <cm> +how wide \(default: "80"\)/);
    expect(out).toMatch(/--json +prints JSON\n/);
    expect(out).toMatch(/Environment:\n {2}DATABASE_URL {2}where it is\n/);
    expect(out).toMatch(
      /Exit codes:\n {2}0 {2}done\n {2}1 {2}it was open\n {2}2 .*\n {2}3 {2}there is no such wall\n/,
    );
  });

  it('gives a command its argument and options, and prints text or JSON', async () => {
    const seen: unknown[] = [];
    const run = ({ argument, values, print }: Given<{ wide?: string }>): Promise<ExitCode> => {
      seen.push([argument, values.wide]);
      print({ opened: argument }, `Opened ${argument}`);
      print(undefined, 'for people');
      return Promise.resolve(EXIT.found);
    };
    expect(await platform(['doors', 'open', 'front'], run)).toEqual({
      code: 1,
      out: 'Opened front\nfor people\n',
      error: '',
    });
    expect((await platform(['doors', 'open', '--json', '--wide', '9', '-front'], run)).out).toBe(
      '{"opened":"-front"}\n',
    );
    expect(seen).toEqual([
      ['front', '80'],
      ['-front', '9'],
    ]);
  });

  it.each([
    [['windows'], "unknown command 'windows' (see --help)"],
    [['doors', 'shut'], "unknown command 'shut' (see --help)"],
    [['doors', 'open'], "missing required argument 'door' (see --help)"],
    [['doors', 'open', 'front', 'back'], 'too many arguments'],
    [['--unknown'], "unknown option '--unknown' (see --help)"],
  ])('ends with 2 for %j, and says why in one line', async (args, sentence) => {
    const { code, out, error } = await platform(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toContain(sentence);
    expect(error.trim().split('\n')).toHaveLength(1);
  });

  it('ends with 2 and shows the commands where one is missing', async () => {
    const { code, error } = await platform(['doors']);
    expect(code).toBe(2);
    expect(error).toContain('opens a door');
  });

  it.each<[Error, ExitCode, string]>([
    [new CommandRefusal('There is no such door.'), 2, 'There is no such door.\n'],
    [new CommandRefusal('It is there already.', EXIT.exists), 3, 'It is there already.\n'],
    [new Problem('duplicate_value', { detail: 'The slug is taken.' }), 3, 'The slug is taken.\n'],
    [new Problem('limit_reached', { detail: 'Five levels at most.' }), 2, 'Five levels at most.\n'],
    [new TypeError('a mistake'), 2, 'a mistake\n'],
    [
      Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' }),
      2,
      'The database does not answer: connect ECONNREFUSED 127.0.0.1:9\n',
    ],
    [
      Object.assign(new Error('relation "x" does not exist'), { code: '42P01', severity: 'ERROR' }),
      2,
      'The database is not migrated: run "platform migrate" first.\n',
    ],
  ])('tells of %s in one sentence', async (failure, code, error) => {
    expect(await platform(['doors', 'open', 'front'], () => Promise.reject(failure))).toEqual({
      code,
      out: '',
      error,
    });
  });
});
