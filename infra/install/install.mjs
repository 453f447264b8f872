/**
 * Makes a checkout ready to run, from whatever Node started it (20 or newer) and with nothing installed:
 * packages as package-lock.json has them, and the Node 24 that comes as one of them.
 * No dependency may be imported here.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { described, markInUse, usersFolder, usersOf } from '../kit/packages-in-use.mjs';
import { claim } from '../kit/presence.mjs';

const TOLD_EVERY_MS = 10_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

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
 * Installs the packages where that is needed, and keeps them from being installed anew until this process ends: `npm ci`
 * begins by deleting them. Waits for another process that installs them. Throws an Error of one sentence while somebody
 * runs on packages that would have to go.
 */
export async function usePackages(root, name, say) {
  const { release } = await turnToInstall(root, name, say);
  try {
    const reason = staleness(root);
    if (reason !== undefined) {
      const users = await usersOf(root);
      if (users.length > 0)
        throw new Error(
          `The packages must be installed anew (${reason}), and ${users.join(' and ')} ${users.length > 1 ? 'run' : 'runs'} on those that are there: stop it first, then start again.`,
        );
      await ensureInstalled(root, say);
    }
    await markInUse(root, name);
  } finally {
    release();
  }
}

async function turnToInstall(root, name, say) {
  const gate = join(usersFolder(root), 'installing');
  for (let told = false; ; told = true) {
    const { release, holder } = await claim(gate, name);
    if (release) return { release };
    if (!told) say(`Waiting for ${described(holder)}, which looks after the packages …`);
    await pause(200);
  }
}

/**
 * Installs with `npm ci` where that is needed. Says so, with the time it took.
 * Throws an Error of one sentence when npm fails or is ended; the next start goes on from there.
 */
export async function ensureInstalled(root, say) {
  const reason = staleness(root);
  if (reason === undefined) return;
  say(`Installing packages, which takes a minute or two (${reason}) …`);
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  // It takes a minute and more, and npm itself says nothing: a person must see that it is alive.
  const alive = setInterval(() => say(`  … ${seconds()} s`), TOLD_EVERY_MS);
  const { status, signal } = await npmCi(root).finally(() => clearInterval(alive));
  if (signal)
    throw new Error(`Stopped (${signal}) while packages were being installed: start again to go on.`);
  if (status !== 0) throw new Error(`"npm ci" failed with status ${status}: see its message above.`);
  if (!existsSync(nodeOf(root)))
    throw new Error(
      'npm installed no Node 24: its install script did not run; allow it ("allowScripts", "ignore-scripts").',
    );
  say(`Packages installed (${seconds()} s).`);
}

/** Ends npm with this process: it would go on deleting and writing alone. */
function npmCi(root) {
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let ended;
  const end = (signal) => {
    ended = signal;
    npm.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  return new Promise((resolve, reject) => {
    npm.once('error', ({ message }) =>
      reject(new Error(`npm could not be run (${message}): install npm 10 or newer.`)),
    );
    npm.once('close', (status, signal) => resolve({ status, signal: ended ?? signal }));
  }).finally(() => {
    for (const signal of SIGNALS) process.off(signal, end);
  });
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
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${script} could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
}
