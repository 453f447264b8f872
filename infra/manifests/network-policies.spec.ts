import type { Resource } from './builds.ts';
import { Manifests, workloads } from './kubernetes.fixture.ts';
import { LOOPBACK, NOT_PUBLIC } from '@customer-platform/outbound';
import { reaches, type Pod, type Policy } from './network-policies.ts';

const manifests = await Manifests.copied();
const resources: Resource[] = [
  ...(await manifests.resources('overlays/local/data')),
  ...(await manifests.resources('overlays/local')),
];
const pods = new Map(
  workloads(resources).map(({ metadata, spec }): [string, Pod] => [
    metadata.name,
    { labels: spec.template.metadata.labels },
  ]),
);

afterAll(() => manifests.remove());

function pod(name: string): Pod {
  const found = pods.get(name);
  if (!found) throw new Error(`no pod of ${name}`);
  return found;
}

describe('network policies of a cluster with its own data', () => {
  const modules = ['core', 'crm', 'identity', 'messaging', 'loyalty'];

  it.each(modules)('%s reaches PostgreSQL, to migrate too, and Kafka', (module) => {
    for (const name of [`${module}-api`, `${module}-worker`, `${module}-migrate-local`])
      expect(reaches(resources, pod(name), pod('postgres'), 5432)).toBe(true);
    for (const role of ['api', 'worker'])
      expect(reaches(resources, pod(`${module}-${role}`), pod('kafka'), 9092)).toBe(true);
  });

  it('Kafka reaches itself, and nothing cuts PostgreSQL, Kafka or anybody else off in their namespace', () => {
    const another: Pod = { labels: { app: 'backup' } };
    for (const port of [9092, 9093]) expect(reaches(resources, pod('kafka'), pod('kafka'), port)).toBe(true);
    expect(reaches(resources, another, pod('postgres'), 5432)).toBe(true);
    expect(reaches(resources, pod('postgres'), another, 443)).toBe(true);
  });

  it.each(modules)('%s answers the gateway and Prometheus, and /internal/* modules alone', (module) => {
    const api = pod(`${module}-api`);
    const prometheus: Pod = { labels: {}, namespace: 'monitoring' };
    expect(reaches(resources, pod('gateway'), api, 3000)).toBe(true);
    expect(reaches(resources, prometheus, api, 3000)).toBe(true);
    expect(reaches(resources, pod('gateway'), api, 3001)).toBe(false);
    expect(reaches(resources, prometheus, api, 3001)).toBe(false);
    for (const other of modules) expect(reaches(resources, pod(`${other}-worker`), api, 3001)).toBe(true);
    expect(reaches(resources, { labels: { app: 'stranger' } }, api, 3001)).toBe(false);
    expect(reaches(resources, { labels: { app: 'stranger' } }, api, 3000)).toBe(false);
  });

  it('crm alone asks other modules for their routes: those whose parts a timeline has', () => {
    const asks = (from: string) =>
      modules.filter((to) => reaches(resources, pod(from), pod(`${to}-api`), 3000));
    expect(asks('crm-api')).toEqual(['core', 'messaging', 'loyalty']);
    for (const other of modules.filter((name) => name !== 'crm')) expect(asks(`${other}-api`)).toEqual([]);
  });

  it('messaging alone reaches the mail catcher, and core alone a Redis', () => {
    const redis: Pod = { labels: { app: 'redis' } };
    for (const module of modules) {
      expect(reaches(resources, pod(`${module}-worker`), pod('mail'), 1025)).toBe(module === 'messaging');
      expect(reaches(resources, pod(`${module}-api`), redis, 6379)).toBe(module === 'core');
    }
  });

  it('everybody asks for names', () => {
    const dns: Pod = { labels: {}, namespace: 'kube-system' };
    // Who serves the Console's files asks nobody.
    for (const [name, from] of [...pods].filter(([one]) => one !== 'console'))
      expect([name, reaches(resources, from, dns, 53)]).toEqual([name, true]);
  });

  it('the Console is reached by the gateway alone, and reaches nobody', () => {
    const server = pod('console');
    expect(reaches(resources, pod('gateway'), server, 3000)).toBe(true);
    expect(reaches(resources, pod('gateway'), server, 3001)).toBe(false);
    expect(reaches(resources, { labels: {}, namespace: 'monitoring' }, server, 3001)).toBe(true);
    for (const other of [pod('core-api'), { labels: {}, namespace: 'ingress-nginx' }])
      expect(reaches(resources, other, server, 3000)).toBe(false);
    for (const name of pods.keys()) expect(reaches(resources, server, pod(name), 3000)).toBe(false);
  });

  it('the gateway is reached from the ingress’s namespace alone, and reaches modules and the Console alone', () => {
    expect(reaches(resources, { labels: {}, namespace: 'ingress-nginx' }, pod('gateway'), 3000)).toBe(true);
    for (const other of [
      { labels: {}, namespace: 'default' },
      { labels: { app: 'stranger' } },
      pod('crm-worker'),
    ])
      expect(reaches(resources, other, pod('gateway'), 3000)).toBe(false);
    expect(reaches(resources, pod('gateway'), pod('postgres'), 5432)).toBe(false);
  });
});

it.each(['identity-sso', 'messaging-messages'])('%s leaves out all that no customer may lead to', (name) => {
  const policy = resources.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === name);
  const blocks = (policy?.spec as Policy).egress?.flatMap(({ to = [] }) =>
    to.flatMap(({ ipBlock = [] }) => ipBlock),
  );
  const [ipv4, ipv6] = blocks ?? [];
  const never = [...NOT_PUBLIC, ...LOOPBACK].map(([network, prefix]) => `${network}/${String(prefix)}`);
  expect(ipv4?.cidr).toBe('0.0.0.0/0');
  expect(ipv4?.except?.toSorted()).toEqual(never.filter((network) => !network.includes(':')).toSorted());
  expect(ipv6?.cidr).toBe('2000::/3');
  expect(ipv6?.except?.toSorted()).toEqual(
    never.filter((network) => /^[23]/.test(network) && network.includes(':')).toSorted(),
  );
});
