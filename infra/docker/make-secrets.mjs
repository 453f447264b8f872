/**
 * Makes secrets, for Docker Compose or for a cluster, or a module's next service key; USAGE has the ways to call it.
 *
 * Never overwrites: a database that exists knows its passwords, a row that is encrypted its key. Writes nothing where
 * the call is not one of these, and nothing where a commit would take it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { composeEnvironment, kubernetesSecrets, makeSecrets, MODULES, nextServiceKey } from './secrets.mjs';

const USAGE = `
  node infra/docker/make-secrets.mjs                      .env, which docker-compose.yml reads
  node infra/docker/make-secrets.mjs --k8s FOLDER [HOST]  one file per Secret for kustomize; HOST of PostgreSQL
  node infra/docker/make-secrets.mjs --service-key MODULE prints what replaces a module's service key; the public
                                                          set of today is read from SERVICE_PUBLIC_KEYS, else .env`;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What is asked for. Throws an Error of one sentence where that is none of USAGE. */
function read(args) {
  const options = { k8s: { type: 'string' }, 'service-key': { type: 'string' } };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const { k8s: folder, 'service-key': module } = values;
  const [host, ...more] = positionals;
  if (folder === '') throw new Error('--k8s needs a folder.');
  if (module !== undefined && !MODULES.includes(module))
    throw new Error(`--service-key takes one of ${MODULES.join(', ')}.`);
  if (more.length > 0 || (host !== undefined && folder === undefined))
    throw new Error(`What is ${more[0] ?? host}?`);
  if (folder !== undefined && module !== undefined) throw new Error('One of the two at a time.');
  return { folder, host, module };
}

function printServiceKey(module) {
  const current =
    process.env.SERVICE_PUBLIC_KEYS ??
    /^SERVICE_PUBLIC_KEYS='(.*)'$/m.exec(readFileSync(join(root, '.env'), 'utf8'))?.[1];
  const next = nextServiceKey(module, current);
  console.log(`SERVICE_PUBLIC_KEYS='${next.SERVICE_PUBLIC_KEYS}'`);
  console.log(`${module.toUpperCase()}_SERVICE_PRIVATE_KEY='${next.SERVICE_PRIVATE_KEY}'`);
}

/** Whether a commit of everything would take the file. Without git, or outside of a clone, nothing is committed. */
function committed(path) {
  let folder = dirname(resolve(path));
  while (!existsSync(folder)) folder = dirname(folder);
  return spawnSync('git', ['check-ignore', '--quiet', resolve(path)], { cwd: folder }).status === 1;
}

function writeSecrets(folder, host) {
  const secrets = makeSecrets();
  const files =
    folder === undefined
      ? [[join(root, '.env'), composeEnvironment(secrets)]]
      : Object.entries(kubernetesSecrets(secrets, host)).map(([name, text]) => [
          join(folder, `${name}.env`),
          text,
        ]);
  const existing = files.map(([path]) => path).filter((path) => existsSync(path));
  if (existing.length > 0) throw new Error(`Already there, and kept: ${existing.join(', ')}`);
  const open = files.map(([path]) => path).find(committed);
  if (open !== undefined)
    throw new Error(
      `git would take ${open}: name a folder that it ignores, k8s/overlays/production/secrets.`,
    );
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
    console.log(`Written: ${path}`);
  }
}

let asked;
try {
  asked = read(process.argv.slice(2));
} catch (error) {
  console.error(`${error.message}\n${USAGE}`);
  process.exit(1);
}
try {
  if (asked.module === undefined) writeSecrets(asked.folder, asked.host);
  else printServiceKey(asked.module);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
