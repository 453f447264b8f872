/**
 * Every overlay of k8s/ as kustomize builds it, held against the schemas of Kubernetes, and docker-compose.yml as Docker
 * Compose reads it. Prints what is wrong and ends with 1.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { composeEnvironment, makeSecrets } from '../docker/secrets.mjs';
import { copyOfManifests, kustomizations } from './builds.ts';
import { readEnvironment } from './environment.ts';
import { manifestTools } from './tools.ts';

const root = join(import.meta.dirname, '../..');
const folder = copyOfManifests();
try {
  const tools = await manifestTools(console.log);
  const built = join(folder, 'built');
  mkdirSync(built);
  const files = await Promise.all(
    kustomizations(folder).map(async (path) => {
      const file = join(built, `${path.replaceAll('/', '_')}.yaml`);
      writeFileSync(file, await tools.kustomize(join(folder, path)));
      return file;
    }),
  );
  await tools.kubeconform(files);
  await tools.compose(join(root, 'docker-compose.yml'), readEnvironment(composeEnvironment(makeSecrets())));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  rmSync(dirname(folder), { recursive: true });
}
