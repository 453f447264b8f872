import { spawn } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Read by tools from where they run. */
const COPIED = [
  '.prettierrc.json',
  '.swcrc',
  'eslint.config.mjs',
  'jest.config.mjs',
  'nx.json',
  'package.json',
  'tsconfig.base.json',
  'tsconfig.lib.json',
  'tsconfig.project.json',
];
const ownSources = (path: string): boolean =>
  !/\/(node_modules|dist|out-tsc)(\/|$)/.test(path.slice(ROOT.length));

/** A workspace in a temporary folder: one app and the libraries as copies, everything else this workspace's. */
export class GeneratedWorkspace {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'customer-platform-generated-')));
  readonly app: string;

  constructor(module: string) {
    this.app = join(this.root, 'apps', module);
    for (const file of COPIED) cpSync(join(ROOT, file), join(this.root, file));
    for (const folder of ['node_modules', 'docs']) symlinkSync(join(ROOT, folder), join(this.root, folder));
    mkdirSync(join(this.root, 'infra'));
    for (const folder of ['test', 'local', 'install'])
      symlinkSync(join(ROOT, 'infra', folder), join(this.root, 'infra', folder));
    // The rules for names judge a file by its path from the folder that they stand in.
    for (const folder of ['infra/lint', 'libs', join('apps', module)])
      cpSync(join(ROOT, folder), join(this.root, folder), { recursive: true, filter: ownSources });
    // Of a package that others have in another version each has its own.
    for (const folder of globSync(['libs/*/node_modules', `apps/${module}/node_modules`], { cwd: ROOT }))
      symlinkSync(join(ROOT, folder), join(this.root, folder));
    // Here a library is this workspace's copy, as the tests map it too.
    const paths = { '@customer-platform/*': ['./libs/*/src/index.ts'] };
    const file = join(this.root, 'tsconfig.base.json');
    const base = JSON.parse(readFileSync(file, 'utf8')) as { compilerOptions: object };
    const compilerOptions = { ...base.compilerOptions, paths };
    writeFileSync(file, JSON.stringify({ ...base, compilerOptions }));
  }

  /** Puts lines behind a line of a file. */
  addLines(file: string, after: string, lines: readonly string[]): void {
    const path = join(this.root, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(`${after}\n`)) throw new Error(`${file} has no line "${after}".`);
    writeFileSync(
      path,
      text.replace(`${after}\n`, () => `${[after, ...lines].join('\n')}\n`),
    );
  }

  /** Runs a program of node_modules; fails with what it printed. */
  async run(program: string, ...args: string[]): Promise<string> {
    const child = spawn(process.execPath, [join(ROOT, 'node_modules', program), ...args], {
      cwd: this.root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '', NX_DAEMON: 'false' },
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const output = Buffer.concat(chunks).toString('utf8');
    if (status !== 0) throw new Error(`${program} ended with ${status}:\n${output}`);
    return output;
  }

  discard(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
