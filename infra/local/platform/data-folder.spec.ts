import { spawn } from 'node:child_process';
import { type JsonWebKey, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@customer-platform/kit/ports.ts';
import { appEnvironment } from './app-environment.ts';
import { DataFolder } from './data-folder.ts';
import { databaseAddresses } from './databases.ts';
import { boundOnce } from './log-files.ts';
import { planPorts } from './port-plan.ts';
import { loadSecrets, publicKeys } from './secrets.ts';
import { takeFolder } from './single-instance.ts';

let data: DataFolder;
const servers: Server[] = [];

beforeEach(() => {
  data = new DataFolder(mkdtempSync(join(tmpdir(), 'data-folder-')));
});
afterEach(async () => {
  rmSync(data.path, { recursive: true });
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

function occupy(port: number, host?: string): Promise<void> {
  const server = createServer();
  servers.push(server);
  return new Promise((listening) => server.listen(port, host, listening));
}

describe('the data folder', () => {
  it('writes files whole, readable by nobody else', () => {
    data.writeJson('demo.json', { a: 1 });
    expect(data.readJson('demo.json')).toEqual({ a: 1 });
    expect(statSync(data.file('demo.json')).mode & 0o777).toBe(0o600);
  });

  it('says what to do with a file that was damaged', () => {
    writeFileSync(data.file('secrets.json'), '{"half');
    expect(() => loadSecrets(data)).toThrow(/secrets\.json is no JSON: .* --reset/);
  });

  it('is emptied of what a start and the demo write, and of nothing else', () => {
    loadSecrets(data);
    mkdirSync(data.file('demo'));
    writeFileSync(data.file('demo', 'access.zip'), 'of somebody who is gone');
    writeFileSync(data.file('mine.txt'), 'kept');
    data.reset();
    expect(existsSync(data.file('secrets.json'))).toBe(false);
    expect(existsSync(data.file('demo'))).toBe(false);
    expect(readFileSync(data.file('mine.txt'), 'utf8')).toBe('kept');
  });
});

describe('secrets', () => {
  it('are made once, differ by module, and sign what the public keys verify', () => {
    const secrets = loadSecrets(data);
    expect(loadSecrets(data)).toEqual(secrets);
    expect(statSync(data.file('secrets.json')).mode & 0o777).toBe(0o600);
    const { core, crm } = secrets.modules;
    expect(core.cursor).not.toBe(crm.cursor);
    expect(Buffer.from(core.encryption, 'base64')).toHaveLength(32);
    const jwk = publicKeys(secrets).keys.find((key) => key['kid'] === 'core') as JsonWebKey;
    expect(jwk).not.toHaveProperty('d');
    const text = Buffer.from('call');
    const signature = sign(null, text, createPrivateKey({ key: core.serviceKey, format: 'jwk' }));
    expect(verify(null, text, createPublicKey({ key: jwk, format: 'jwk' }), signature)).toBe(true);
  });

  it('that an earlier version did not have are added to those that are kept', () => {
    const { provider, ...earlier } = loadSecrets(data);
    data.writeJson('secrets.json', earlier);
    const secrets = loadSecrets(data);
    expect(secrets).toMatchObject(earlier);
    expect(secrets.provider).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secrets.provider).not.toBe(provider);
    expect(loadSecrets(data)).toEqual(secrets);
  });

  it('reach each app as far as it is concerned', async () => {
    const secrets = loadSecrets(data);
    const { plan: ports } = await planPorts(data);
    const admin = 'postgres://postgres:secret@127.0.0.1:5432/postgres';
    const wiring = {
      ports,
      secrets,
      brokers: '127.0.0.1:9092',
      databases: databaseAddresses(admin, secrets),
    };
    const env = {
      PATH: '/bin',
      DATABASE_URL: admin,
      LOG_LEVEL: 'warn',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel',
    };
    const core = appEnvironment('core', wiring, { env });
    expect(core['DATABASE_URL']).toBe(`postgres://core_app:${secrets.modules.core.app}@127.0.0.1:5432/core`);
    expect(core).toMatchObject({
      LOG_LEVEL: 'warn',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel',
      PROCESS_ROLE: 'all',
    });
    // What an earlier version has left in Kafka carries no proof of who wrote it.
    expect(core['EVENTS_REQUIRE_PROOF']).toBe('false');
    const demanding = appEnvironment('core', wiring, { env: { ...env, EVENTS_REQUIRE_PROOF: 'true' } });
    expect(demanding['EVENTS_REQUIRE_PROOF']).toBe('true');
    expect(JSON.stringify(core)).not.toContain(secrets.modules.crm.app);
    expect(core).not.toHaveProperty('LEDGER_KEY');
    const worker = appEnvironment('core', wiring, { env, role: 'worker' });
    expect(worker).toMatchObject({ PROCESS_ROLE: 'worker', CORE_URL: core['CORE_URL'] });
    expect(worker['PORT']).not.toBe(core['PORT']);
    expect(appEnvironment('loyalty', wiring, { env })['LEDGER_KEY']).toBe(secrets.ledgerKey);
    const gateway = appEnvironment('gateway', wiring, { env });
    expect(gateway).not.toHaveProperty('DATABASE_URL');
    expect(gateway['CONSOLE_UPSTREAM_URL']).toBe(`http://127.0.0.1:${ports.console}`);
    expect(core).not.toHaveProperty('CONSOLE_UPSTREAM_URL');
    expect(gateway['CORE_URL']).toBe(`http://127.0.0.1:${ports.public.core}`);
  });
});

describe('ports', () => {
  it('stay the same over starts, except those that another program has now', async () => {
    const { plan } = await planPorts(data);
    const { public: serving, internal, worker } = plan;
    const ports = [serving, internal, worker].flatMap((each) => Object.values(each));
    expect(new Set(ports).size).toBe(14);
    expect((await planPorts(data)).plan).toEqual(plan);
    await occupy(plan.postgres, '127.0.0.1');
    const { plan: next } = await planPorts(data);
    expect(next.postgres).not.toBe(plan.postgres);
    expect(next).toEqual({ ...plan, postgres: next.postgres });
  });

  it('that people type are the preferred ones or the next free, which is told', async () => {
    const preferred = await freePort();
    await occupy(preferred);
    const { plan, taken } = await planPorts(data, { gateway: preferred });
    expect(plan.public.gateway).toBeGreaterThan(preferred);
    expect(taken).toContainEqual({ use: 'gateway', preferred, taken: plan.public.gateway });
  });
});

describe('the folder belongs to one start', () => {
  it('a second is told which process has it, however that was called, and has it when that is gone', async () => {
    const script = `import { claim } from ${JSON.stringify(join(import.meta.dirname, '../../kit/presence.mjs'))};
      await claim(process.argv[1], 'npm start');
      console.log('mine');
      setInterval(() => undefined, 1_000);`;
    const file = data.file('supervisor.pid');
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    await once(holder.stdout, 'data');
    await expect(takeFolder(data)).rejects.toThrow(
      new RegExp(`running already \\(process ${holder.pid}, .*Ctrl-C`),
    );
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const giveBack = await takeFolder(data);
    giveBack();
    expect(existsSync(file)).toBe(false);
  });

  it('one of a release before is told by its number, with what to remove where that is another program', async () => {
    const file = data.file('supervisor.pid');
    writeFileSync(file, String(process.pid));
    await expect(takeFolder(data)).rejects.toThrow(`remove ${file} if it is another program.`);
  });
});

describe('log files', () => {
  it('are copied and emptied when they grow too large', () => {
    const folder = data.path;
    writeFileSync(join(folder, 'core.log'), 'x'.repeat(100));
    writeFileSync(join(folder, 'crm.log'), 'x');
    boundOnce(folder, 50);
    expect(statSync(join(folder, 'core.log')).size).toBe(0);
    expect(statSync(join(folder, 'core.log.1')).size).toBe(100);
    expect(existsSync(join(folder, 'crm.log.1'))).toBe(false);
  });
});
