import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { kubernetesSecrets, makeSecrets } from '../docker/secrets.mjs';
import type { ManifestTools } from './tools.ts';

const root = join(import.meta.dirname, '../..');

/** An object of Kubernetes, as far as it is looked at here. */
export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  // What differs by kind is asked for where it is looked at.
  spec?: unknown;
  data?: Record<string, string>;
}

/** A copy of `k8s` without its secrets, with what k8s/README.md has made before the first `kubectl apply`. */
export function copyOfManifests(): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'customer-platform-k8s-')), 'k8s');
  cpSync(join(root, 'k8s'), folder, {
    recursive: true,
    filter: (path) => basename(path) !== 'secrets',
  });
  const data = join(folder, 'overlays/local/data');
  cpSync(join(root, 'infra/docker/provision-postgres.sh'), join(data, 'provision-postgres.sh'));
  mkdirSync(join(data, 'secrets'));
  for (const [name, text] of Object.entries(kubernetesSecrets(makeSecrets())))
    writeFileSync(join(data, 'secrets', `${name}.env`), text);
  writeOptionalParts(folder);
  return folder;
}

/** What an overlay may add: core with each optional component, as an overlay would include it. */
function writeOptionalParts(folder: string): void {
  for (const component of globSync('components/{kafka-*,imports-bucket,modules-tls}', { cwd: folder })) {
    const overlay = join(folder, 'overlays/optional', component.slice('components/'.length));
    mkdirSync(overlay, { recursive: true });
    writeFileSync(
      join(overlay, 'kustomization.yaml'),
      `kind: Kustomization\nresources: [../../production/core]\ncomponents: [../../../${component}]\n`,
    );
  }
}

/** The folders of one app, or of its data, that `kubectl apply -k` takes; components are no such folders. */
export function kustomizations(folder: string): string[] {
  return globSync('overlays/*/*/kustomization.yaml', { cwd: folder })
    .filter((file) => /^kind: Kustomization$/m.test(readFileSync(join(folder, file), 'utf8')))
    .map(dirname)
    .sort();
}

/** What `kustomize build` makes of a folder. */
export async function resourcesOf(tools: ManifestTools, folder: string): Promise<Resource[]> {
  return parseAllDocuments(await tools.kustomize(folder)).map((document) => document.toJS() as Resource);
}
