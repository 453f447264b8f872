/**
 * node infra/docker/make-secrets.mjs                    .env, which docker-compose.yml reads
 * node infra/docker/make-secrets.mjs --k8s FOLDER [HOST]  one file per Secret for kustomize; HOST of PostgreSQL
 * node infra/docker/make-secrets.mjs --service-key MODULE  prints what replaces a module's service key; the public
 *                                                          set of today is read from SERVICE_PUBLIC_KEYS, else .env
 *
 * Never overwrites: a database that exists knows its passwords, a row that is encrypted its key.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { composeEnvironment, kubernetesSecrets, makeSecrets, nextServiceKey } from './secrets.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [mode, folder, host] = process.argv.slice(2);

if (mode === '--service-key') {
  const current =
    process.env.SERVICE_PUBLIC_KEYS ??
    /^SERVICE_PUBLIC_KEYS='(.*)'$/m.exec(readFileSync(join(root, '.env'), 'utf8'))?.[1];
  const next = nextServiceKey(folder, current);
  console.log(`SERVICE_PUBLIC_KEYS='${next.SERVICE_PUBLIC_KEYS}'`);
  console.log(`${folder.toUpperCase()}_SERVICE_PRIVATE_KEY='${next.SERVICE_PRIVATE_KEY}'`);
  process.exit();
}

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
