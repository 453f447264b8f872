import { curlLines, type DemoFacts, summary } from './summary.ts';
import { Progress } from './progress.ts';
import { readOptions } from './options.ts';

describe('the options of npm start', () => {
  it('are the embedded services in .data unless told otherwise', () => {
    const options = readOptions([], {});
    expect(options).toMatchObject({ reset: false, help: false });
    expect(options.data).toMatch(/\/\.data$/);
    expect(options.databaseUrl).toBeUndefined();
    expect(options.brokers).toBeUndefined();
  });

  it('take a person’s own services from the environment', () => {
    const env = {
      PLATFORM_DATABASE_URL: 'postgres://me@db/postgres',
      PLATFORM_KAFKA_BROKERS: 'k1:9092,k2:9092',
    };
    expect(readOptions(['--data', '/x', '--port', '9000'], env)).toMatchObject({
      data: '/x',
      port: 9000,
      databaseUrl: env.PLATFORM_DATABASE_URL,
      brokers: env.PLATFORM_KAFKA_BROKERS,
    });
  });

  it('do not follow the addresses that another project has set', () => {
    const { databaseUrl, brokers } = readOptions([], {
      DATABASE_URL: 'postgres://theirs/x',
      KAFKA_BROKERS: 'theirs:9092',
    });
    expect([databaseUrl, brokers]).toEqual([undefined, undefined]);
  });

  it.each([
    [['--prot', '1'], {}, '--prot'],
    [['--port', 'x'], {}, '--port takes a port'],
    [[], { PLATFORM_DATABASE_URL: 'mysql://db' }, 'PLATFORM_DATABASE_URL must be a postgres:// address'],
    [
      ['--reset'],
      { PLATFORM_DATABASE_URL: 'postgres://db' },
      '--reset empties the data folder and nothing else',
    ],
    [['--reset'], { PLATFORM_KAFKA_BROKERS: 'k1:9092' }, '--reset empties the data folder and nothing else'],
  ])('%j with %j is refused', (args, env, sentence) => {
    expect(() => readOptions(args, env)).toThrow(sentence);
  });
});

const KEY = '0199aa3c-5b6e-7000-8000-000000000001';

it('the printed commands are one line each and need no quoting by hand', () => {
  const facts = {
    base_url: 'http://127.0.0.1:8080',
    mail_url: 'http://127.0.0.1:8025',
    contact_id: 'c',
  } as DemoFacts;
  const lines = curlLines(facts, new Date(0), KEY);
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line).toMatch(/^curl [^\n]+$/);
  expect(lines[0]).toContain(`"idempotency_key":"${KEY}","occurred_at":"1970-01-01T00:00:00.000Z"`);
});

it('the last lines say where the Console is and who signs in', () => {
  const facts = {
    console_url: 'http://127.0.0.1:8080/console/',
    user_email: 'demo@example.com',
    user_password: 'd476-dcfe',
  } as DemoFacts;
  expect(summary(facts, '9.0 s').slice(-4)).toEqual([
    'The Console is at http://127.0.0.1:8080/console/',
    'Sign in as demo@example.com with d476-dcfe',
    'Ctrl-C stops everything.',
    '',
  ]);
});

describe('progress', () => {
  it('shows each step with its time, a long one as alive, a failed one as such', async () => {
    const lines: string[] = [];
    const progress = new Progress((line) => lines.push(line), 20);
    await progress.step('build', async (detail) => {
      detail('nothing has changed');
      await new Promise((wait) => setTimeout(wait, 30));
    });
    await expect(progress.step('apps', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(lines[0]).toMatch(/^ {2}… build {20}.*\d\.\d s$/);
    expect(lines.at(-2)).toMatch(/^ {2}✓ build {20}.*\d\.\d s {2}nothing has changed$/);
    expect(lines.at(-1)).toMatch(/^ {2}✗ apps/);
  });

  it('says nothing of steps that are ended on purpose', async () => {
    const lines: string[] = [];
    const progress = new Progress((line) => lines.push(line), 20);
    const ended = progress.step('Kafka', async () => {
      await new Promise((wait) => setTimeout(wait, 30));
      throw new Error('ended');
    });
    progress.stop();
    await expect(ended).rejects.toThrow('ended');
    expect(lines).toEqual([]);
  });
});
