import { createPrivateKey, createPublicKey, sign, verify, type JsonWebKey } from 'node:crypto';
import { existsSync, globSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '@customer-platform/config';
import {
  composeServices,
  environmentOf,
  own,
  readEnvironment,
  readText,
  root,
  schemas,
  type Environment,
} from './deployment.fixture.ts';
import { composeEnvironment, kubernetesSecrets, makeSecrets, MODULES, nextServiceKey } from './secrets.mjs';

const secrets = makeSecrets();
const ownSchema = (module: string) => (module in own ? own[module as keyof typeof own] : undefined);
const apps = readdirSync(join(root, 'apps')).filter((app) =>
  existsSync(join(root, 'apps', app, 'package.json')),
);

describe('secrets', () => {
  it('each module signs with a key that the public set knows by its name', () => {
    const { keys } = JSON.parse(secrets.platform['SERVICE_PUBLIC_KEYS'] ?? '') as {
      keys: (JsonWebKey & { kid: string })[];
    };
    for (const module of MODULES) {
      const key = createPrivateKey({
        key: JSON.parse(secrets.modules[module]?.['SERVICE_PRIVATE_KEY'] ?? '') as JsonWebKey,
        format: 'jwk',
      });
      const jwk = keys.find(({ kid }) => kid === `${module}-1`);
      if (!jwk) throw new Error(`no public key of ${module}`);
      const signature = sign(null, Buffer.from('x'), key);
      expect(verify(null, Buffer.from('x'), createPublicKey({ key: jwk, format: 'jwk' }), signature)).toBe(
        true,
      );
    }
  });

  it('a module’s next service key has the next number, and joins the public set', () => {
    const first = secrets.platform['SERVICE_PUBLIC_KEYS'] ?? '';
    const { SERVICE_PUBLIC_KEYS, SERVICE_PRIVATE_KEY } = nextServiceKey('core', first);
    const kids = (text: string) =>
      (JSON.parse(text) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
    expect(kids(SERVICE_PUBLIC_KEYS)).toEqual([...kids(first), 'core-2']);
    expect(JSON.parse(SERVICE_PRIVATE_KEY)).toMatchObject({ kid: 'core-2', d: expect.any(String) as string });
    expect(SERVICE_PUBLIC_KEYS).not.toContain('"d"');
    const former = '{"keys":[{"kid":"core"}]}';
    expect(kids(nextServiceKey('core', former).SERVICE_PUBLIC_KEYS)).toEqual(['core', 'core-1']);
    expect(() => nextServiceKey('crm', former)).toThrow('no key of crm');
  });

  it('the public set holds no private part, and no two modules share a secret', () => {
    expect(secrets.platform['SERVICE_PUBLIC_KEYS']).not.toContain('"d"');
    const all = Object.values(secrets.modules).flatMap((values) => Object.values(values));
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('docker-compose.yml', () => {
  const services = composeServices(readEnvironment(composeEnvironment(secrets)));
  const entries = Object.entries(services);

  it('runs every app, each module as one process that serves and one that consumes', () => {
    const images = entries.map(([, { image }]) => image);
    for (const app of apps) expect(images).toContain(`customer-platform/${app}`);
    for (const module of MODULES)
      expect(
        ['api', 'worker'].map(
          (role) => environmentOf(services[`${module}-${role}`] ?? { image: '' })['PROCESS_ROLE'],
        ),
      ).toEqual(['api', 'worker']);
  });

  it.each(entries.filter(([name]) => /-(api|worker)$|^bootstrap$/.test(name)))(
    '%s has every variable it reads',
    (name, service) => {
      const environment = environmentOf(service);
      const module = service.image.replace('customer-platform/', '');
      const read = readConfig(schemas.module, environment);
      expect(read.SERVICE_PRIVATE_KEY.kid).toBe(`${module}-1`);
      expect(new URL(read.DATABASE_URL).username).toBe(`${module}_app`);
      expect(environment['DATABASE_OWNER_URL']).toBeUndefined();
      const more = ownSchema(module);
      if (more) readConfig(more, environment);
      expect(name).toBeTruthy();
    },
  );

  it.each(entries.filter(([name]) => name.endsWith('-migrate')))(
    '%s is the owner, and no service',
    (_, service) => {
      const { DATABASE_OWNER_URL } = readConfig(schemas.migration, environmentOf(service));
      expect(new URL(DATABASE_OWNER_URL).username).toMatch(/_owner$/);
      expect(environmentOf(service)['DATABASE_URL']).toBeUndefined();
      expect(environmentOf(service)['SERVICE_PRIVATE_KEY']).toBeUndefined();
    },
  );

  it('the gateway has what it reads, no secret, and is the only app published', () => {
    const environment = environmentOf(services['gateway'] ?? { image: '' });
    const { PORT, INTERNAL_PORT } = readConfig(schemas.gateway, environment);
    expect(services['gateway']?.ports).toEqual([`\${GATEWAY_PORT:-8080}:${PORT}`]);
    expect(environment['HEALTH_PORT']).toBe(String(INTERNAL_PORT));
    expect(environment['DATABASE_URL'] ?? environment['SERVICE_PRIVATE_KEY']).toBeUndefined();
    expect(entries.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['mail', 'gateway']);
  });

  it('addresses name services that exist, on the ports they listen on', () => {
    const environment = environmentOf(services['core-api'] ?? { image: '' });
    const addresses = Object.entries(environment).filter(([name]) =>
      /^(CORE|CRM|IDENTITY|MESSAGING|LOYALTY)_.*URL$/.test(name),
    );
    expect(addresses).toHaveLength(10);
    for (const [name, address] of addresses) {
      const { hostname, port } = new URL(address);
      expect(services).toHaveProperty([hostname]);
      expect([name, port]).toEqual([name, environment[name.includes('INTERNAL') ? 'INTERNAL_PORT' : 'PORT']]);
    }
  });

  it('modules believe the containers beside them, the gateway nobody', () => {
    const { GATEWAY_ADDRESSES } = readConfig(
      schemas.module,
      environmentOf(services['core-api'] ?? { image: '' }),
    );
    expect(['172.18.0.5', '203.0.113.9'].map((address) => GATEWAY_ADDRESSES.has(address))).toEqual([
      true,
      false,
    ]);
    expect(environmentOf(services['gateway'] ?? { image: '' })['TRUSTED_PROXIES']).toBe('');
  });

  it('waits only for services that exist', () => {
    for (const [, { depends_on = {} }] of entries)
      for (const name of Object.keys(depends_on)) expect(services).toHaveProperty([name]);
  });
});

describe('k8s', () => {
  const files = globSync('k8s/**/*.yaml', { cwd: root });
  const shared = readEnvironment(readText('k8s/base/platform.env'));
  const made = kubernetesSecrets(secrets);
  const secret = (name: string): Environment => readEnvironment(made[name] ?? '');

  it.each(files)('%s is YAML', (file) => {
    for (const document of parseAllDocuments(readText(file))) expect(document.errors).toEqual([]);
  });

  it('has a folder for every deployable, and every kustomization names files that exist', () => {
    for (const app of apps) expect(existsSync(join(root, 'k8s/base', app, 'kustomization.yaml'))).toBe(true);
    for (const file of files.filter((path) => path.endsWith('kustomization.yaml'))) {
      const { resources = [], patches = [] } = parse(readText(file)) as {
        resources?: string[];
        patches?: { path?: string }[];
      };
      for (const path of [...resources, ...patches.flatMap((patch) => patch.path ?? [])])
        expect([file, path, existsSync(join(root, dirname(file), path))]).toEqual([file, path, true]);
    }
  });

  it.each(MODULES)('%s has every variable it reads', (module) => {
    const environment = { ...shared, ...secret('service-keys'), ...secret(`${module}-secrets`) };
    const read = readConfig(schemas.module, environment);
    expect(read.SERVICE_PRIVATE_KEY.kid).toBe(`${module}-1`);
    expect(read.PLATFORM_MODE).toBe('production');
    const more = ownSchema(module);
    if (more) readConfig(more, environment);
    readConfig(schemas.migration, secret(`${module}-owner`));
    for (const role of ['api', 'worker']) {
      const text = readText(`k8s/base/${module}/${role}.yaml`);
      for (const source of ['platform', 'service-keys', `${module}-secrets`])
        expect(text).toContain(`name: ${source} }`);
      expect(text).not.toContain('-owner');
    }
  });

  it('the gateway has what it reads and no secret', () => {
    readConfig(schemas.gateway, shared);
    expect(readText('k8s/base/gateway/api.yaml')).not.toContain('secretRef');
  });

  it('listens, serves and probes on the same ports', () => {
    const { PORT = '', INTERNAL_PORT = '' } = shared;
    const deployment = readText('k8s/base/every-deployment.yaml');
    expect(deployment).toContain(`{ name: public, containerPort: ${PORT} }`);
    expect(deployment).toContain(`{ name: internal, containerPort: ${INTERNAL_PORT} }`);
    expect(readText('infra/docker/Dockerfile')).toContain(`PORT=${PORT} INTERNAL_PORT=${INTERNAL_PORT}`);
    for (const module of MODULES) {
      expect(shared[`${module.toUpperCase()}_URL`]).toBe(`http://${module}:${PORT}`);
      expect(shared[`${module.toUpperCase()}_INTERNAL_URL`]).toBe(`http://${module}:${INTERNAL_PORT}`);
      const service = readText(`k8s/base/${module}/service.yaml`);
      expect(service).toContain(`{ name: public, port: ${PORT}, targetPort: public }`);
      expect(service).toContain(`{ name: internal, port: ${INTERNAL_PORT}, targetPort: internal }`);
    }
  });

  it('lets modules, and not the gateway, reach /internal', () => {
    for (const module of MODULES) {
      const { spec } = parse(readText(`k8s/base/${module}/network-policy.yaml`)) as {
        spec: { ingress: { ports: { port: string }[]; from: unknown[] }[] };
      };
      const internal = spec.ingress.filter(({ ports }) => ports.some(({ port }) => port === 'internal'));
      expect(internal.map(({ from }) => from)).toEqual([
        [{ podSelector: { matchLabels: { 'customer-platform/kind': 'module' } } }],
      ]);
    }
    expect(readText('k8s/base/gateway/api.yaml')).toContain('customer-platform/kind: gateway');
  });
});
