import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { runScript, START_WITHIN_MS, WORKSPACE, type PlatformUnderTest } from '@customer-platform/testing';
import { operatedPlatform } from './operated-platform.fixture.js';

const MODULES = ['core', 'crm', 'identity', 'loyalty', 'messaging'] as const;
type Module = (typeof MODULES)[number];

const COMMANDS: Record<Module, string[]> = {
  core: [
    'migrate',
    'audit verify',
    'erasures ask-again',
    'events dead-letters discard',
    'events dead-letters list',
    'events dead-letters redeliver',
    'installation adopt',
    'installation renew',
    'installation show',
    'kafka acls',
    'secrets reencrypt',
    'signing-keys list',
    'signing-keys rotate',
    'signing-keys retire',
    'unreadable-records discard',
    'unreadable-records list',
    'unreadable-records redeliver',
  ],
  crm: [
    'migrate',
    'events dead-letters discard',
    'events dead-letters list',
    'events dead-letters redeliver',
    'installation adopt',
    'installation renew',
    'installation show',
    'kafka acls',
    'secrets reencrypt',
  ],
  identity: [
    'migrate',
    'organizations bootstrap',
    'organizations recover',
    'organizations create',
    'installation adopt',
    'installation renew',
    'installation show',
    'kafka acls',
    'keys revoke',
    'console',
    'factors reset',
    'sessions end-all',
    'secrets reencrypt',
    'signing-keys list',
    'signing-keys rotate',
    'signing-keys retire',
    'id-token-keys list',
    'id-token-keys rotate',
    'id-token-keys retire',
  ],
  loyalty: [
    'migrate',
    'balances rebuild',
    'events dead-letters discard',
    'events dead-letters list',
    'events dead-letters redeliver',
    'installation adopt',
    'installation renew',
    'installation show',
    'kafka acls',
    'secrets reencrypt',
  ],
  messaging: [
    'migrate',
    'deliverability recount',
    'events dead-letters discard',
    'events dead-letters list',
    'events dead-letters redeliver',
    'installation adopt',
    'installation renew',
    'installation show',
    'kafka acls',
    'secrets reencrypt',
  ],
};

let platform: PlatformUnderTest;
beforeAll(async () => {
  platform = await operatedPlatform();
}, START_WITHIN_MS);

/**
 * What a command of a module's image prints, as lines of JSON, and what it ends with. Like most here it runs in a process
 * that has the module's program loaded; of each module some commands are processes of their own.
 */
async function json<Line>(module: Module, ...words: string[]): Promise<{ status: number; lines: Line[] }> {
  const { status, output } = await platform.operate(module, ...words, '--json');
  const lines = output.split('\n').filter(Boolean);
  return { status, lines: lines.map((line) => JSON.parse(line) as Line) };
}

const programOf = (module: Module): string => join(WORKSPACE, 'apps', module, 'dist/platform.js');
const NO_VARIABLES = { PATH: process.env['PATH'] };

/** Runs a program once for each level of its help, in one process: most of the time of each goes into loading it. */
const EVERY_HELP = `
const program = process.argv[1];
const write = process.stdout.write.bind(process.stdout);
let text = '';
process.stdout.write = (chunk) => (text += chunk, true);
async function below(...words) {
  text = '';
  process.argv = [process.argv[0], program, ...words, '--help'];
  await import(\`\${program}?\${words.join('+')}\`);
  if (process.exitCode !== 0) throw new Error(words.join(' ') + ' --help ended with ' + process.exitCode);
  const told = text;
  const [, listed] = told.split('\\nCommands:\\n');
  if (listed === undefined) return { [words.join(' ')]: told };
  const all = {};
  for (const [, name] of listed.matchAll(/^ {2}([a-z-]+)/gm)) Object.assign(all, await below(...words, name));
  return all;
}
write(JSON.stringify(await below()));`;

/** The help of every command, found from level to level. Needs no variable: that is how one finds out which are needed. */
function commandsOf(module: Module): Record<string, string> {
  const args = ['--input-type=module', '-e', EVERY_HELP, programOf(module)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', env: NO_VARIABLES })) as Record<
    string,
    string
  >;
}

it('operators’ commands are all known to a checkout, each of its modules', async () => {
  const help = await runScript('infra/local/platform-command.ts', ['--help'], {});
  const told = [...help.matchAll(/^ {2}(\S+) … +(.+)$/gm)].map(([, noun = '', modules = '']) => [
    noun,
    modules.split(', ').sort(),
  ]);
  const having = new Map<string, Module[]>();
  for (const module of MODULES)
    for (const noun of new Set(COMMANDS[module].map((command) => command.split(' ')[0] ?? '')))
      if (noun !== 'migrate') having.set(noun, [...(having.get(noun) ?? []), module]);
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(having));
});

describe.each(MODULES)('the operators’ program of %s', (module) => {
  it('lists its commands, and tells of each its options, variables and exit codes', () => {
    const commands = commandsOf(module);
    expect(Object.keys(commands).sort()).toEqual([...COMMANDS[module]].sort());
    for (const [words, text] of Object.entries(commands)) {
      expect(text).toContain(`Usage: platform ${words} [options]`);
      expect(text).toMatch(/--json +prints JSON/);
      expect(text).toMatch(/\nEnvironment:\n {2}[A-Z_]+ {2}/);
      expect(text).toMatch(/\nExit codes:\n {2}0 {2}done\n/);
    }
  });

  it('finds nothing to migrate after a migration, also by the name that the release before gave it', async () => {
    expect(await json(module, 'migrate')).toEqual({ status: 0, lines: [{ module, migrations: [] }] });
    const former = await runScript(`apps/${module}/dist/migrate.js`, [], platform.envOf(module));
    expect(former).toBe(`${module}: 0 migrations\n`);
  });

  it('ends with 2 for what it does not know, and without its variables', async () => {
    expect(await platform.command(module, 'everything')).toEqual({
      status: 2,
      output: "unknown command 'everything' (see --help)\n",
    });
    const bare = spawnSync(process.execPath, [programOf(module), 'migrate'], {
      encoding: 'utf8',
      env: NO_VARIABLES,
    });
    expect(bare).toMatchObject({ status: 2, stdout: '' });
    expect(bare.stderr).toContain('DATABASE_OWNER_URL');
  });

  it('works beside the running service', async () => {
    const secrets = await json<{ columns: { unreadable: number }[] }>(module, 'secrets', 'reencrypt');
    expect(secrets.status).toBe(0);
    expect(secrets.lines[0]?.columns.map(({ unreadable }) => unreadable)).not.toHaveLength(0);
    if (module === 'identity') return;
    expect(await json(module, 'events', 'dead-letters', 'list')).toEqual({ status: 0, lines: [] });
    const redelivered = await platform.command(module, 'events', 'dead-letters', 'redeliver', '--all');
    expect(redelivered).toEqual({ status: 0, output: '0 delivered, 0 left\n' });
  });
});

describe.each(['core', 'identity'] as const)('platform signing-keys of %s', (module) => {
  it('makes a key beside the one that signs', async () => {
    const { lines: made } = await json<{ made: string }>(module, 'signing-keys', 'rotate');
    const { status, lines } = await json<{ keys: { kid: string }[] }>(module, 'signing-keys', 'list');
    expect(status).toBe(0);
    expect(lines[0]?.keys.map(({ kid }) => kid)).toContain(made[0]?.made);
  });
});

describe('platform of identity', () => {
  it('registers the Console at bootstrap, and again at another address', async () => {
    interface Registered {
      client_id: string;
      redirect_uris: string[];
      changed: boolean;
    }
    const register = async (...words: string[]) => {
      const { status, lines } = await json<Registered>('identity', 'console', ...words);
      expect(status).toBe(0);
      return lines[0];
    };
    const first = await register();
    expect(first?.changed).toBe(false);
    const moved = await register('--url', 'https://console.example/');
    expect(moved).toMatchObject({ client_id: first?.client_id, changed: true });
    expect(moved?.redirect_uris).toContain('https://console.example/console/callback');
    expect(await register()).toEqual({ ...first, changed: true });
    const refused = await platform.operate('identity', 'console', '--url', 'http://elsewhere.example');
    expect(refused.status).toBe(2);
    expect(refused.output).toContain('an https address');
  });

  it('bootstraps once: the second ends with 3 and changes nothing', async () => {
    const again = await platform.command('identity', 'organizations', 'bootstrap', '--slug', 'other');
    expect(again.status).toBe(3);
    expect(again.output).toContain('platform organizations recover');
  });

  it('resets the factors of nobody: 2', async () => {
    const reset = await platform.operate('identity', 'factors', 'reset', '--user', 'nobody@example.com');
    expect(reset).toEqual({ status: 2, output: 'Nobody has that address.\n' });
  });

  it('recovers an organization by a key that works', async () => {
    const { status, lines } = await json<{ slug: string; key: string }>(
      'identity',
      ...['organizations', 'recover', 'platform'],
    );
    expect([status, lines[0]?.slug]).toEqual([0, 'platform']);
    expect((await platform.as(lines[0]?.key).get('/v1/identity/roles')).status).toBe(200);
    expect(await platform.operate('identity', 'organizations', 'recover', 'nobody')).toEqual({
      status: 2,
      output: 'No active organization has the slug nobody.\n',
    });
  });

  it('creates an organization once, and equips it anew where that is meant', async () => {
    const create = ['organizations', 'create', '--name', 'Acme', '--slug', 'acme-cli'];
    const first = await json<{ organization_id: string; created: boolean }>('identity', ...create);
    expect(first).toMatchObject({ status: 0, lines: [{ created: true, slug: 'acme-cli', keys: {} }] });
    expect((await platform.operate('identity', ...create)).status).toBe(3);
    const { status, output } = await platform.operate(
      'identity',
      ...create,
      '--reissue',
      '--issue',
      'ingestion',
    );
    expect(status).toBe(0);
    expect(output).toMatch(
      /^The organization acme-cli is equipped anew \(.*\)\.\nIts keys.*:\n {2}ingestion {2}cpk_/,
    );
  });

  it.each([
    [['create', '--name', 'Acme'], "required option '--slug <slug>' not specified"],
    [['create', '--name', ' ', '--slug', 'acme'], 'It takes 1 to 80 characters.'],
    [['create', '--name', 'A', '--slug', 'A'], 'It takes 3 to 63 of a-z, 0-9 and the dash.'],
    [['create', '--name', 'A', '--slug', 'acme', '--rate-limit-key', '5'], 'Give both --rate-limit-key'],
    [['create', '--name', 'A', '--slug', 'acme', '--rate-limit-key', '0'], 'a whole number from 1 to 100000'],
    [
      ['create', '--name', 'A', '--slug', 'acme', '--issue', 'owner'],
      'Allowed choices are ingestion, administrator',
    ],
    [['create', '--name', 'A', '--slug', 'acme', '--locale', '-'], 'a language tag such as es-CL'],
    [['bootstrap', '--timezone', 'Mars/Olympus'], 'an IANA time zone'],
  ])('ends with 2 for organizations %j', async (words, reason) => {
    const { status, output } = await platform.operate('identity', 'organizations', ...words);
    expect([status, output]).toEqual([2, expect.stringContaining(reason)]);
  });

  it('revokes a key by its id or by itself', async () => {
    const tenant = await platform.tenant();
    const revoked = await json('identity', 'keys', 'revoke', tenant.adminKeyId);
    expect(revoked).toEqual({ status: 0, lines: [{ id: tenant.adminKeyId, revoked: true }] });
    expect((await platform.operate('identity', 'keys', 'revoke', tenant.adminKeyId)).output).toBe(
      `${tenant.adminKeyId} had ended before\n`,
    );
    const printed = execFileSync(process.execPath, [programOf('identity'), 'keys', 'revoke', '-', '--json'], {
      input: `${tenant.ingestionKey}\n`,
      encoding: 'utf8',
      env: { ...NO_VARIABLES, ...platform.envOf('identity') },
    });
    expect(JSON.parse(printed)).toMatchObject({ revoked: true });
    expect(await platform.operate('identity', 'keys', 'revoke', 'key')).toMatchObject({ status: 2 });
  });
});

describe('platform of core and loyalty', () => {
  it('ask for erasures again, of which there are none', async () => {
    const since = ['--since', '2026-11-21T09:30:00Z', '--module', 'crm'];
    expect(await platform.operate('core', 'erasures', 'ask-again', ...since)).toEqual({
      status: 0,
      output: 'Asked for 0 erasures again\n',
    });
  });

  it('verify the audit logs and rebuild the balances', async () => {
    const audit = await json<{ unreadable: number }>('core', 'audit', 'verify');
    expect(audit).toMatchObject({ status: 0, lines: [{ unreadable: 0 }] });
    expect((await platform.command('core', 'audit', 'verify')).output).toMatch(/ audit logs, 0 broken\n$/);
    const balances = await platform.operate('loyalty', 'balances', 'rebuild');
    expect(balances).toEqual({
      status: 0,
      output: expect.stringMatching(/^\d+ organizations\n$/m) as string,
    });
  });
});
