import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ensureInstalled, nodeOf } from '../install/install.mjs';
import { type AppName, APPS, MODULES, ROOT } from '@customer-platform/local/platform/modules.ts';

const run = promisify(execFile);
const OUTPUT_BYTES = 256 * 2 ** 20;
const TEST_DATABASE = 'libs/testing/src/test-database.ts';

/** What of an app is replaced; `migrate` where the release has no operators' program yet. */
type Program = 'main' | 'migrate' | 'platform';

/** A release: where its built code is, and what to call it. */
export interface Release {
  readonly name: string;
  readonly root: string;
}

/** What the checkout of a release keeps beside the programs that are replaced: its own ones. */
const own = (root: string, app: AppName, program: Program): string =>
  join(root, 'apps', app, 'dist', `${program}.own.js`);
const program = (root: string, app: AppName, name: Program): string =>
  join(root, 'apps', app, 'dist', `${name}.js`);

/** A commit of this repository in a work tree of its own, with packages of its own, built. */
export class Checkout implements Release {
  readonly name: string;
  readonly root: string;

  private constructor(name: string, root: string) {
    this.name = name;
    this.root = root;
  }

  /** @throws Error with the remedy where this clone lacks the commit, or it does not build */
  static async of(ref: string, root: string, say: (line: string) => void): Promise<Checkout> {
    const commit = commitOf(ref);
    const subject = git(['log', '-1', '--format=%h %s', commit]);
    say(`checking out ${subject}`);
    git(['worktree', 'add', '--detach', '--force', root, commit]);
    const checkout = new Checkout(subject.slice(0, subject.indexOf(' ')), root);
    process.once('exit', () => checkout.remove());
    try {
      await installInto(root, say);
      copyFileSync(join(import.meta.dirname, 'test-database.ts'), join(root, TEST_DATABASE));
      say('building it');
      await build(root);
      return checkout;
    } catch (error) {
      checkout.remove();
      throw error;
    }
  }

  /** Has each of its modules migrate its databases with the migrations of `other`, or again with its own. */
  migrateAs(other: Release): void {
    for (const module of MODULES) this.replace(module, migrationsIn(this.root, module), other);
  }

  /** Starts these apps as `other` has them, and all others as they are here. */
  runAs(other: Release, apps: readonly AppName[]): void {
    for (const app of APPS) this.replace(app, 'main', apps.includes(app) ? other : this);
  }

  /** Its own migrations of a module, whatever {@link migrateAs} has put in their place. */
  ownMigrations(module: AppName): string {
    const name = migrationsIn(this.root, module);
    const path = own(this.root, module, name);
    return existsSync(path) ? path : program(this.root, module, name);
  }

  /** Does nothing where it is gone. */
  remove(): void {
    if (!existsSync(this.root)) return;
    spawnSync('git', ['worktree', 'remove', '--force', this.root], { cwd: ROOT });
    rmSync(this.root, { recursive: true, force: true });
    spawnSync('git', ['worktree', 'prune'], { cwd: ROOT });
  }

  private replace(app: AppName, name: Program, other: Release): void {
    const path = program(this.root, app, name);
    const kept = own(this.root, app, name);
    if (!existsSync(kept)) renameSync(path, kept);
    const source = other === this ? kept : program(other.root, app, name);
    const [theirs, ours] = [source, kept].map((file) => JSON.stringify(pathToFileURL(file).href));
    // Of the operators' program the migrations alone: the other commands work with what runs here.
    const imported = name === 'platform' ? `process.argv[2] === 'migrate' ? ${theirs} : ${ours}` : theirs;
    // As in a production that is upgraded: what the older release writes to Kafka carries no proof.
    const setting = `process.env['EVENTS_REQUIRE_PROOF'] ??= 'false';`;
    writeFileSync(path, `${setting}\nawait import(${imported});\n`);
  }
}

/** The program of a release that migrates a module, when it is told `migrate`. */
function migrationsIn(root: string, module: AppName): Program {
  return existsSync(program(root, module, 'platform')) ? 'platform' : 'migrate';
}

/** The full id of a commit. @throws Error with the remedy where this clone lacks it */
export function commitOf(ref: string): string {
  try {
    return git(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
  } catch (cause) {
    throw new Error(`This clone has no ${ref}: fetch it ("git fetch --deepen 1" for the commit before).`, {
      cause,
    });
  }
}

function git(args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** The packages that are here where they are the same, as links to the same files; else those of its own lock file. */
async function installInto(root: string, say: (line: string) => void): Promise<void> {
  const lock = 'package-lock.json';
  if (readFileSync(join(root, lock), 'utf8') === readFileSync(join(ROOT, lock), 'utf8')) {
    const folders = ['node_modules', ...globSync('{apps,libs,infra}/*/node_modules', { cwd: ROOT })];
    const linked = folders.every(
      (folder) => spawnSync('cp', ['-al', join(ROOT, folder), join(root, folder)]).status === 0,
    );
    // Caches are written to in place, and are of the checkout they were made in.
    rmSync(join(root, 'node_modules/.cache'), { recursive: true, force: true });
    if (linked) return;
    for (const folder of folders) rmSync(join(root, folder), { recursive: true, force: true });
  }
  await ensureInstalled(root, say);
}

/** By its own means, which remember it: its tests must not build again over what is replaced. */
async function build(root: string): Promise<void> {
  const builder = pathToFileURL(join(root, 'infra/local/platform/build.ts')).href;
  const script = `await (await import(${JSON.stringify(builder)})).build()`;
  await run(nodeOf(root), ['--input-type=module', '--eval', script], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '' },
    maxBuffer: OUTPUT_BYTES,
  });
}
