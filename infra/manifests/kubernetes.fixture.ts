import { dirname, join } from 'node:path';
import { rmSync } from 'node:fs';
import { copyOfManifests, resourcesOf, type Resource } from './builds.ts';
import { manifestTools, type ManifestTools } from './tools.ts';

interface Probe {
  httpGet: { path: string; port: string };
}

/** What is looked at of a container, of whichever workload. */
export interface Container {
  name: string;
  image: string;
  command?: string[];
  env?: { name: string; value: string }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: object;
  volumeMounts?: { name: string; mountPath: string }[];
}

/** What is looked at of a Deployment, a StatefulSet or a Job. */
interface Workload {
  replicas?: number;
  template: {
    metadata: { labels: Record<string, string> };
    spec: {
      terminationGracePeriodSeconds?: number;
      securityContext?: object;
      volumes?: { name: string; secret?: { secretName: string } }[];
      containers: Container[];
    };
  };
}

/** The overlays, built from a copy that tests may change. */
export class Manifests {
  readonly folder = copyOfManifests();
  private readonly tools: ManifestTools;

  private constructor(tools: ManifestTools) {
    this.tools = tools;
  }

  static async copied(): Promise<Manifests> {
    return new Manifests(await manifestTools());
  }

  resources(path: string): Promise<Resource[]> {
    return resourcesOf(this.tools, join(this.folder, path));
  }

  remove(): void {
    rmSync(dirname(this.folder), { recursive: true });
  }
}

export function workloads(resources: readonly Resource[]): (Resource & { spec: Workload })[] {
  return resources.filter((resource): resource is Resource & { spec: Workload } =>
    ['Deployment', 'StatefulSet', 'Job'].includes(resource.kind),
  );
}

/** The one container that a workload has. */
export function containerOf({ metadata, spec }: { metadata: { name: string }; spec: Workload }): Container {
  const [container, ...more] = spec.template.spec.containers;
  if (!container || more.length > 0) throw new Error(`${metadata.name} has not one container`);
  return container;
}

export function ofKind(resources: readonly Resource[], kind: string): Resource[] {
  return resources.filter((resource) => resource.kind === kind);
}
