/**
 * `npm start`: checks what must be there, installs the packages, and goes on under Node 24 (start.ts).
 * It begins on any Node and imports no package.
 */
import { fileURLToPath } from 'node:url';
import { findJava, requireDisk, requireNode, requireSystem } from './requirements.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NEEDED_TO_INSTALL_MB = 2048;

async function start() {
  reachThisMachineDirectly(process.env);
  requireNode();
  requireSystem();
  const { continueUnderNode, nodeOf, staleness, usePackages } = await import('../install/install.mjs');
  if (!process.env.PLATFORM_KAFKA_BROKERS) findJava();
  if (staleness(ROOT) !== undefined) requireDisk(ROOT, NEEDED_TO_INSTALL_MB);
  await usePackages(ROOT, 'npm start', (line) => process.stdout.write(`${line}\n`));
  if (process.execPath === nodeOf(ROOT) && !usesProxy(process.env)) {
    await import('./start.ts'); // the Node of the packages already: no second process is needed
    return;
  }
  process.env.PLATFORM_LAUNCHER = String(process.pid);
  continueUnderNode(ROOT, 'infra/local/start.ts', process.argv.slice(2));
  endWithParent();
}

/** A proxy that the environment names is for other machines: here it would stand between the parts of one platform. */
function reachThisMachineDirectly(env) {
  const direct = [env.NO_PROXY ?? env.no_proxy, '127.0.0.1', 'localhost'].filter(Boolean).join(',');
  env.NO_PROXY = direct;
  env.no_proxy = direct;
}

/** Node has read by now which addresses need no proxy: only another process hears of ours. */
function usesProxy({ NODE_USE_ENV_PROXY, NODE_OPTIONS = '' }) {
  return NODE_USE_ENV_PROXY === '1' || NODE_OPTIONS.includes('--use-env-proxy');
}

/** npm passes signals on while it lives; when it was killed, nobody is left who could. */
function endWithParent() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(143);
  }, 500).unref();
}

start().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
