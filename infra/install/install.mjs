/**
 * Makes a checkout ready to run, from whatever Node started it (20 or newer) and with nothing installed:
 * packages as package-lock.json has them, and the Node 24 that comes as one of them.
 * No dependency may be imported here.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The Node that everything but this first step runs on. */
export function nodeOf(root) {
  return join(root, 'node_modules/node/bin/node');
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/**
 * Why the installed packages are not those of package-lock.json, or undefined when they are.
 * Compared with the record npm keeps of what it installed; optional packages of other machines may be absent.
 */
export function staleness(root) {
  const record = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(record)) return 'no packages are installed';
  if (!existsSync(nodeOf(root))) return 'Node 24 is not installed';
  const wanted = readJson(join(root, 'package-lock.json')).packages;
  const installed = readJson(record).packages;
  for (const [path, { version, link, optional, peer, resolved }] of Object.entries(wanted)) {
    if (!path.includes('node_modules/')) continue;
    if (link) {
      if (!existsSync(join(root, path))) return `${path} (${resolved}) is not linked`;
      continue;
    }
    const found = installed[path]?.version;
    if (found === version || (found === undefined && (optional || peer))) continue;
    return `${path} is ${found ?? 'absent'}, ${version} is wanted`;
  }
  return undefined;
}

/**
 * Installs with `npm ci` where that is needed. Says so on standard error, with the time it took.
 * Throws an Error of one sentence when npm fails.
 */
export function ensureInstalled(root, say = (line) => process.stderr.write(`${line}\n`)) {
  const reason = staleness(root);
  if (reason === undefined) return;
  say(`Installing packages: ${reason} …`);
  const started = Date.now();
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (error) throw new Error(`npm could not be run (${error.message}): install npm 10 or newer.`);
  if (status !== 0) throw new Error(`"npm ci" failed with status ${status}: see its message above.`);
  if (!existsSync(nodeOf(root)))
    throw new Error(
      'npm installed no Node 24: its install script did not run; allow it ("allowScripts", "ignore-scripts").',
    );
  say(`Packages installed (${Math.round((Date.now() - started) / 1000)} s).`);
}

/**
 * Runs a program under the installed Node, in this terminal, and ends as it ends; signals are passed on, so that the
 * program can stop what it started.
 */
export function continueUnderNode(root, script, args) {
  const child = spawn(nodeOf(root), [join(root, script), ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${join(root, 'node_modules/node/bin')}:${process.env.PATH ?? ''}` },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${script} could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
}
