/**
 * node infra/docker/make-secrets.mjs                    .env, which docker-compose.yml reads
 * node infra/docker/make-secrets.mjs --k8s FOLDER [HOST]  one file per Secret for kustomize; HOST of PostgreSQL
 *
 * Never overwrites: a database that exists knows its passwords, a row that is encrypted its key.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { composeEnvironment, kubernetesSecrets, makeSecrets } from './secrets.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [mode, folder, host] = process.argv.slice(2);
const secrets = makeSecrets();
const files =
  mode === '--k8s' && folder
    ? Object.entries(kubernetesSecrets(secrets, host)).map(([name, text]) => [
        join(folder, `${name}.env`),
        text,
      ])
    : [[join(root, '.env'), composeEnvironment(secrets)]];

const existing = files.map(([path]) => path).filter((path) => existsSync(path));
if (existing.length > 0) {
  console.error(`Already there, and kept: ${existing.join(', ')}`);
  process.exitCode = 1;
} else {
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
    console.log(`Written: ${path}`);
  }
}
