import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '@customer-platform/config';
import { composeEnvironment, makeSecrets, MODULES } from '../docker/secrets.mjs';
import { readEnvironment, type Environment } from './environment.ts';
import { own, schemas } from './schemas.fixture.ts';
import { manifestTools } from './tools.ts';
import { variablesOf } from './variables.ts';

interface ComposeService {
  image: string;
  environment?: Record<string, string | null>;
  ports?: { target: number; published: string; host_ip?: string }[];
  stop_grace_period?: string;
}

const root = join(import.meta.dirname, '../..');
const apps = readdirSync(join(root, 'apps'));
/** What Node's libraries and the image's health check read. */
const OF_THE_CONTAINER = ['NODE_ENV', 'HEALTH_PORT'];
/** Read only to refuse it: a variable that another has replaced. */
const REPLACED = 'TRUST_FORWARDED';

const tools = await manifestTools();
const made = readEnvironment(composeEnvironment(makeSecrets()));
async function servicesWith(more: Environment): Promise<Record<string, ComposeService>> {
  const model = await tools.compose(join(root, 'docker-compose.yml'), { ...made, ...more });
  return (JSON.parse(model) as { services: Record<string, ComposeService> }).services;
}
const services = await servicesWith({});
const entries = Object.entries(services);
const serving = entries.filter(([name]) => /-(api|worker)$|^(bootstrap|gateway|console)$/.test(name));

function environmentOf(name: string): Environment {
  const environment = services[name]?.environment ?? {};
  return Object.fromEntries(Object.entries(environment).map(([variable, value]) => [variable, value ?? '']));
}

const appOf = ({ image }: ComposeService): string => /^customer-platform\/(\w+):/.exec(image)?.[1] ?? '';

describe('docker-compose.yml', () => {
  it('runs every app, each module as one process that serves and one that consumes', () => {
    const images = entries.map(([, { image }]) => image);
    for (const app of apps) expect(images).toContain(`customer-platform/${app}:local`);
    for (const module of MODULES)
      expect(['api', 'worker'].map((role) => environmentOf(`${module}-${role}`)['PROCESS_ROLE'])).toEqual([
        'api',
        'worker',
      ]);
  });

  it.each(serving)('%s names every variable it reads, and no other', (name, service) => {
    const read = variablesOf(appOf(service));
    for (const other of ['DATABASE_OWNER_URL', REPLACED]) read.delete(other);
    const named = Object.keys(environmentOf(name)).filter((variable) => !OF_THE_CONTAINER.includes(variable));
    expect(named.sort()).toEqual([...read].sort());
  });

  const ofModules = serving.filter(([name]) => name !== 'gateway' && name !== 'console');
  it.each(ofModules)('%s starts with what is made', (name, service) => {
    const environment = environmentOf(name);
    const module = appOf(service);
    const read = readConfig(schemas.module, environment);
    expect(read.SERVICE_PRIVATE_KEY.kid).toBe(`${module}-1`);
    expect(new URL(read.DATABASE_URL).username).toBe(`${module}_app`);
    const more = own.get(module);
    if (more) readConfig(more, environment);
  });

  it.each(entries.filter(([name]) => name.endsWith('-migrate')))(
    '%s is the owner, and no service',
    (name) => {
      const { DATABASE_OWNER_URL } = readConfig(schemas.migration, environmentOf(name));
      expect(new URL(DATABASE_OWNER_URL).username).toMatch(/_owner$/);
      expect(Object.keys(environmentOf(name)).sort()).toEqual(['DATABASE_OWNER_URL', 'LOG_LEVEL']);
    },
  );

  it('the gateway has what it reads, and is the only app published', () => {
    const environment = environmentOf('gateway');
    const { PORT, INTERNAL_PORT } = readConfig(schemas.gateway, environment);
    expect(services['gateway']?.ports).toMatchObject([{ target: PORT, published: '8080' }]);
    expect(environment['HEALTH_PORT']).toBe(String(INTERNAL_PORT));
    expect(environment['TRUSTED_PROXIES']).toBe('');
    expect(entries.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['gateway', 'mail']);
  });

  it('the mail that is caught is shown to this machine alone', () => {
    expect(services['mail']?.ports).toEqual([
      expect.objectContaining({ target: 8025, host_ip: '127.0.0.1' }),
    ]);
  });

  it.each([
    [{}, '8080', 'http://localhost:8080'],
    [{ GATEWAY_PORT: '9090' }, '9090', 'http://localhost:9090'],
    [{ GATEWAY_PORT: '9090', PUBLIC_URL: 'https://api.example.com' }, '9090', 'https://api.example.com'],
  ])('with %j links and sign-in lead to where the gateway is published', async (given, port, url) => {
    const all = await servicesWith(given);
    expect(all['gateway']?.ports).toMatchObject([{ published: port }]);
    const named = Object.values(all).flatMap(({ environment }) => environment?.['PUBLIC_URL'] ?? []);
    expect(named.length).toBeGreaterThan(2 * MODULES.length);
    expect([...new Set(named)]).toEqual([url]);
  });

  it('the Console has what it reads, and is where the gateway asks for it', () => {
    const environment = environmentOf('console');
    const { PORT, INTERNAL_PORT } = readConfig(schemas.console, environment);
    expect(environment['HEALTH_PORT']).toBe(String(INTERNAL_PORT));
    expect(environmentOf('gateway')['CONSOLE_UPSTREAM_URL']).toBe(`http://console:${String(PORT)}`);
  });

  it('addresses name services that exist, on the ports they listen on', () => {
    const addresses = [...MODULES.map((module) => `${module}-api`), 'gateway'].flatMap((name) =>
      Object.entries(environmentOf(name)).filter(([variable]) =>
        /^(CORE|CRM|IDENTITY|MESSAGING|LOYALTY)_.*URL$/.test(variable),
      ),
    );
    expect(addresses).toHaveLength(5 * 5 + 3 + 5);
    for (const [name, address] of addresses) {
      const { hostname, port } = new URL(address);
      expect(services).toHaveProperty([hostname]);
      expect([name, port]).toEqual([
        name,
        environmentOf('core-api')[name.includes('INTERNAL') ? 'INTERNAL_PORT' : 'PORT'],
      ]);
    }
  });

  it('modules believe the containers beside them', () => {
    const { GATEWAY_ADDRESSES } = readConfig(schemas.module, environmentOf('core-api'));
    expect(['172.18.0.5', '203.0.113.9'].map((address) => GATEWAY_ADDRESSES.has(address))).toEqual([
      true,
      false,
    ]);
  });

  it('gives every app the ten seconds that it needs to end', () => {
    for (const [, { stop_grace_period: grace = '10s' }] of serving.filter(([name]) => name !== 'bootstrap'))
      expect(Number.parseInt(grace)).toBeGreaterThan(10);
  });
});
