import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demandKafkaAuthentication, readConfig } from '@customer-platform/config';
import { kubernetesSecrets, makeSecrets, MODULES } from '../docker/secrets.mjs';
import type { Resource } from './builds.ts';
import { readEnvironment, type Environment } from './environment.ts';
import { containerOf, Manifests, ofKind, workloads, type Container } from './kubernetes.fixture.ts';
import { own, schemas } from './schemas.fixture.ts';
import { variablesOf } from './variables.ts';

const root = join(import.meta.dirname, '../..');
const apps = readdirSync(join(root, 'apps'));
const made = kubernetesSecrets(makeSecrets());
const manifests = await Manifests.copied();
const built = new Map<string, Resource[]>();
for (const cluster of ['local', 'production'])
  for (const app of apps)
    built.set(`${cluster}/${app}`, await manifests.resources(`overlays/${cluster}/${app}`));
const overlays = [...built];
const appOf = (overlay: string): string => overlay.split('/')[1] ?? '';
/** What a module has that others lack: a database, and so a worker and a migration. */
const isModule = (app: string): boolean => MODULES.some((module) => module === app);
/** Read only to refuse it: a variable that another has replaced. */
const REPLACED = 'TRUST_FORWARDED';

afterAll(() => manifests.remove());

/** Where a container's variables come from: each source with what it sets. */
function sourcesOf(resources: readonly Resource[], { env = [], envFrom = [] }: Container): Environment[] {
  const maps = envFrom.map(({ configMapRef, secretRef }) => {
    if (secretRef) return readEnvironment(made[secretRef.name] ?? '');
    const map = ofKind(resources, 'ConfigMap').find(({ metadata }) => metadata.name === configMapRef?.name);
    if (!map?.data) throw new Error(`${configMapRef?.name ?? 'a ConfigMap'} is not of this overlay`);
    return map.data;
  });
  return [...maps, Object.fromEntries(env.map(({ name, value }) => [name, value]))];
}

describe.each(overlays)('k8s/overlays/%s', (overlay, resources) => {
  const app = appOf(overlay);
  const deployments = workloads(resources).filter(({ kind }) => kind === 'Deployment');
  const jobs = workloads(resources).filter(({ kind }) => kind === 'Job');

  it('is one app with a tag of its own', () => {
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(
      isModule(app) ? [`${app}-api`, `${app}-worker`] : [app],
    );
    const images = new Set(workloads(resources).map((workload) => containerOf(workload).image));
    expect(images.size).toBe(1);
    // Without a tag, or with `latest`, a cluster pulls anew for every pod, and from a registry that is not there.
    expect([...images][0]).toMatch(new RegExp(`(^|/)customer-platform/${app}:(?!latest$)[\\w.-]+$`));
    for (const { metadata } of resources) expect(metadata.namespace).toBe('customer-platform');
  });

  it('names every variable that the app reads once, and no other', () => {
    const read = variablesOf(app);
    for (const other of ['DATABASE_OWNER_URL', REPLACED]) read.delete(other);
    for (const deployment of deployments) {
      const named = sourcesOf(resources, containerOf(deployment)).flatMap(Object.keys);
      expect(named.sort()).toEqual([...read].sort());
    }
  });

  it('starts with what is made and what it sets', () => {
    for (const deployment of deployments) {
      const environment = Object.assign({}, ...sourcesOf(resources, containerOf(deployment))) as Environment;
      if (app === 'gateway' || app === 'console') readConfig(schemas[app], environment);
      else demandKafkaAuthentication(readConfig(schemas.module, environment));
      const more = own.get(app);
      if (more) readConfig(more, environment);
    }
  });

  it('migrates as the owner, in a job of this release that nothing else changes', () => {
    if (!isModule(app)) return expect(jobs).toEqual([]);
    const [job] = jobs;
    if (!job) throw new Error('no migration');
    const container = containerOf(job);
    const tag = container.image.split(':')[1] ?? '';
    expect(job.metadata.name).toBe(`${app}-migrate-${tag}`);
    expect(container.command).toEqual(['node', `apps/${app}/dist/platform.js`, 'migrate']);
    // A ConfigMap's name changes with what is in it, and a Job cannot be changed.
    expect(container.envFrom).toEqual([{ secretRef: { name: `${app}-owner` } }]);
    const environment = Object.assign({}, ...sourcesOf(resources, container)) as Environment;
    expect(Object.keys(environment).sort()).toEqual(['DATABASE_OWNER_URL', 'LOG_LEVEL']);
    readConfig(schemas.migration, environment);
  });

  it('has autoscalers, budgets and a service for what it deploys, and no second say over the number of pods', () => {
    const names = deployments.map(({ metadata }) => metadata.name);
    const scaled = ofKind(resources, 'HorizontalPodAutoscaler').map(
      ({ spec }) => (spec as { scaleTargetRef: { name: string } }).scaleTargetRef.name,
    );
    expect(scaled).toEqual(names);
    for (const { spec } of deployments) expect(spec.replicas).toBeUndefined();
    const labels = deployments.map(({ spec }) => spec.template.metadata.labels);
    for (const { spec } of ofKind(resources, 'PodDisruptionBudget')) {
      const { selector } = spec as { selector: { matchLabels: Record<string, string> } };
      expect(labels).toContainEqual(expect.objectContaining(selector.matchLabels));
    }
    expect(ofKind(resources, 'PodDisruptionBudget')).toHaveLength(deployments.length);
    const [service] = ofKind(resources, 'Service');
    expect(labels[0]).toMatchObject((service?.spec as { selector: Record<string, string> }).selector);
  });
});

describe.each(apps)('k8s/base/%s by itself', (app) => {
  it('is hardened, probed where it answers, and ends within its time', async () => {
    const resources = await manifests.resources(`base/${app}`);
    for (const workload of workloads(resources)) {
      const container = containerOf(workload);
      const { spec } = workload.spec.template;
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String) as string, memory: expect.any(String) as string },
        limits: { memory: expect.any(String) as string },
      });
      if (workload.kind === 'Job') continue;
      const port = isModule(app) ? 'public' : 'internal';
      expect(container.startupProbe?.httpGet).toEqual({ path: '/health/live', port });
      expect(container.livenessProbe?.httpGet).toEqual({ path: '/health/live', port });
      expect(container.readinessProbe?.httpGet).toEqual({ path: '/health/ready', port });
      // A process is gone ten seconds after its signal, which comes after preStop.
      const sleep = container.lifecycle?.preStop.sleep.seconds ?? Infinity;
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(sleep + 10);
    }
  });

  it('listens and serves on the ports that others call', async () => {
    const resources = await manifests.resources(`base/${app}`);
    const [deployment] = workloads(resources);
    if (!deployment) throw new Error('nothing is deployed');
    const environment = Object.assign({}, ...sourcesOf(resources, containerOf(deployment))) as Environment;
    const { PORT = '', INTERNAL_PORT = '' } = environment;
    expect(containerOf(deployment).ports).toEqual([
      { name: 'public', containerPort: Number(PORT) },
      { name: 'internal', containerPort: Number(INTERNAL_PORT) },
    ]);
    for (const [name, url] of Object.entries(environment).filter(([variable]) =>
      /^(CORE|CRM|IDENTITY|MESSAGING|LOYALTY)(_INTERNAL)?_URL$/.test(variable),
    )) {
      const host = name.replace(/(_INTERNAL)?_URL$/, '').toLowerCase();
      expect(url).toBe(`http://${host}:${name.includes('INTERNAL') ? INTERNAL_PORT : PORT}`);
      const [service] = ofKind(built.get(`production/${host}`) ?? [], 'Service');
      expect(service).toMatchObject({
        metadata: { name: host },
        spec: {
          ports: [
            { name: 'public', port: Number(PORT), targetPort: 'public' },
            { name: 'internal', port: Number(INTERNAL_PORT), targetPort: 'internal' },
          ],
        },
      });
    }
  });
});

describe('one app', () => {
  it('shares no object with another', () => {
    for (const cluster of ['local', 'production']) {
      const names = overlays
        .filter(([overlay]) => overlay.startsWith(cluster))
        .flatMap(([, resources]) => resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    }
  });

  it('is ready anew before it is gone, the Console with all of its pods at once', () => {
    for (const [overlay, resources] of overlays)
      for (const { kind, spec } of resources) {
        if (kind !== 'Deployment') continue;
        const maxSurge = appOf(overlay) === 'console' ? '100%' : 1;
        expect(spec).toMatchObject({ strategy: { rollingUpdate: { maxSurge, maxUnavailable: 0 } } });
      }
  });

  it('rolls alone when its configuration changes', async () => {
    const changed = await Manifests.copied();
    try {
      const file = join(changed.folder, 'base/messaging/messaging.env');
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace('\nSMTP_FROM=\n', '\nSMTP_FROM=other@example.com\n'),
      );
      const others = apps.filter((app) => app !== 'messaging');
      for (const app of others)
        expect(await changed.resources(`overlays/production/${app}`)).toEqual(built.get(`production/${app}`));
      const pods = (resources: readonly Resource[]) =>
        workloads(resources).map(({ metadata, spec }) => [metadata.name, JSON.stringify(spec)] as const);
      const before = new Map(pods(built.get('production/messaging') ?? []));
      const rolled = pods(await changed.resources('overlays/production/messaging'))
        .filter(([name, spec]) => before.get(name) !== spec)
        .map(([name]) => name);
      expect(rolled).toEqual(['messaging-api', 'messaging-worker']);
    } finally {
      changed.remove();
    }
  });

  it('is in the folder that deploys all as it is in its own', async () => {
    for (const cluster of ['local', 'production']) {
      const all = await manifests.resources(`overlays/${cluster}`);
      const each = overlays
        .filter(([overlay]) => overlay.startsWith(cluster))
        .flatMap(([, resources]) => resources);
      expect(new Set(all.map((resource) => JSON.stringify(resource)))).toEqual(
        new Set(each.map((resource) => JSON.stringify(resource))),
      );
    }
  });
});

it('the gateway of production believes no network of the cluster whole about whose call it is', () => {
  const maps = ofKind(built.get('production/gateway') ?? [], 'ConfigMap').map(
    ({ data }) => data?.['TRUSTED_PROXIES'],
  );
  const networks = maps.flatMap((text = '') => text.split(',').filter((each) => each !== ''));
  expect(networks).not.toEqual([]);
  for (const network of networks) expect(Number(network.split('/')[1] ?? 32)).toBeGreaterThanOrEqual(24);
});

describe('optional parts', () => {
  it('kafka-tls mounts the authority where the variable says', async () => {
    const resources = await manifests.resources('overlays/optional/kafka-tls');
    for (const workload of workloads(resources).filter(({ kind }) => kind === 'Deployment')) {
      const container = containerOf(workload);
      const environment = Object.assign({}, ...sourcesOf(resources, container)) as Environment;
      expect(environment['KAFKA_TLS']).toBe('true');
      const mount = container.volumeMounts?.find(({ name }) => name === 'kafka-tls');
      expect(environment['KAFKA_TLS_CA_FILE']).toBe(`${mount?.mountPath ?? ''}/ca.crt`);
      expect(workload.spec.template.spec.volumes).toContainEqual({
        name: 'kafka-tls',
        secret: { secretName: 'kafka-tls' },
      });
    }
  });

  it('modules-tls mounts certificates where the variables say, and asks for health by them', async () => {
    const resources = await manifests.resources('overlays/optional/modules-tls');
    for (const workload of workloads(resources).filter(({ kind }) => kind === 'Deployment')) {
      const container = containerOf(workload);
      const environment = Object.assign({}, ...sourcesOf(resources, container)) as Environment;
      const mount = container.volumeMounts?.find(({ name }) => name === 'modules-tls');
      for (const [variable, file] of [
        ['CA', 'ca.crt'],
        ['CERT', 'tls.crt'],
        ['KEY', 'tls.key'],
      ])
        expect(environment[`MODULES_TLS_${variable}_FILE`]).toBe(`${mount?.mountPath ?? ''}/${file}`);
      const volumes = JSON.stringify(workload.spec.template.spec.volumes);
      expect(volumes).toContain(
        JSON.stringify({ name: 'modules-tls', secret: { secretName: 'modules-tls' } }),
      );
      expect(JSON.stringify(container).match(/"scheme":"HTTPS"/g)).toHaveLength(3);
      expect(JSON.stringify(container).match(/"path":"\/health\/(live|ready)"/g)).toHaveLength(3);
    }
  });

  it('kafka-oauth lets a module reach where tokens come from', async () => {
    const [policy] = ofKind(await manifests.resources('overlays/optional/kafka-oauth'), 'NetworkPolicy');
    expect((policy?.spec as { egress: object[] }).egress).toContainEqual({ ports: [{ port: 443 }] });
  });

  it('imports-bucket lets core reach where files of imports lie', async () => {
    const [policy] = ofKind(await manifests.resources('overlays/optional/imports-bucket'), 'NetworkPolicy');
    expect((policy?.spec as { egress: object[] }).egress).toContainEqual({ ports: [{ port: 443 }] });
  });
});

describe('k8s/README.md', () => {
  it('names folders that are there', () => {
    const text = readFileSync(join(root, 'k8s/README.md'), 'utf8');
    const named = [...text.matchAll(/\bk8s\/[\w./-]*\w/g)].map(([path]) => path);
    expect(named.length).toBeGreaterThan(5);
    const madeByWalk = /\/secrets$/;
    expect(named.filter((path) => !existsSync(join(root, path)) && !madeByWalk.test(path))).toEqual([]);
  });

  it('says of every Secret that modules read which keys it has', () => {
    const text = readFileSync(join(root, 'k8s/README.md'), 'utf8');
    for (const module of MODULES)
      for (const key of Object.keys(readEnvironment(made[`${module}-secrets`] ?? '')))
        expect(text).toContain(key);
  });
});
