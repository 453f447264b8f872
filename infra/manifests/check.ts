/**
 * Every overlay of k8s/ as kustomize builds it, held against the schemas of Kubernetes, and docker-compose.yml as Docker
 * Compose reads it. Prints what is wrong and ends with 1; with 77 where this machine lacks what reads them.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { composeEnvironment, makeSecrets } from '../docker/secrets.mjs';
import { MissingProgram } from '@customer-platform/kit/missing-program.ts';
import { copyOfManifests, kustomizations } from './builds.ts';
import { readEnvironment } from './environment.ts';
import { manifestTools } from './tools.ts';

/** What a check ends with where this machine lacks what it needs (infra/test/run.ts). */
const NOT_JUDGED = 77;
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
  process.exitCode = error instanceof MissingProgram ? NOT_JUDGED : 1;
} finally {
  rmSync(dirname(folder), { recursive: true });
}
