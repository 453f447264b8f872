/**
 * `node --use-system-ca --use-env-proxy fetch-jars.ts LOCK FOLDER`: puts the jars that a lock file names into a folder
 * that does not exist yet. A line of it is `group:artifact:version` and the SHA-256 of the jar. It is a program because
 * those two options, which make Node trust what the machine trusts, hold for a whole process.
 *
 * Where Maven is installed it fetches them, as it is set up on the machine. Node does where it is not or cannot, or where
 * MAVEN_REPOSITORY says where they are. Either way a jar with another checksum is refused.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import artifactUrl from 'mvn-artifact-url';

const COPYING = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
const AT_ONCE = 6;
const TRIES = 3;
const TRY_WITHIN_MS = 120_000;

export interface Jar {
  groupId: string;
  artifactId: string;
  version: string;
}

/** The jars of a lock file, each with its checksum. */
export function jarsIn(lock: string): (Jar & { sha256: string })[] {
  const lines = readFileSync(lock, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, groupId, artifactId, version, sha256] =
      /^([^#:\s]+):([^:\s]+):([^:\s]+) ([0-9a-f]{64})$/.exec(line) ?? [];
    if (groupId && artifactId && version && sha256) return [{ groupId, artifactId, version, sha256 }];
    if (line === '' || line.startsWith('#')) return [];
    throw new Error(`${lock} has a line that names no jar: ${line}`);
  });
}

/**
 * Where jars come from: MAVEN_REPOSITORY, else the mirror in Maven's settings, else undefined for the public repository,
 * whose address the package for such addresses knows.
 */
export function jarRepository(
  env: NodeJS.ProcessEnv,
  settings = join(homedir(), '.m2/settings.xml'),
): string | undefined {
  const address = env['MAVEN_REPOSITORY'] ?? mirrorIn(settings);
  return address?.replace(/\/*$/, '/');
}

function mirrorIn(settings: string): string | undefined {
  if (!existsSync(settings)) return undefined;
  const text = readFileSync(settings, 'utf8').replace(/<!--.*?-->/gs, '');
  const mirrors = [...text.matchAll(/<mirror>(.*?)<\/mirror>/gs)].map(([, mirror = '']) => ({
    of: (/<mirrorOf>(.*?)<\/mirrorOf>/s.exec(mirror)?.[1] ?? '').split(',').map((each) => each.trim()),
    url: /<url>\s*(.*?)\s*<\/url>/s.exec(mirror)?.[1],
  }));
  const covers = (of: string[]): boolean =>
    !of.includes('!central') && ['central', '*', 'external:*'].some((each) => of.includes(each));
  return mirrors.find(({ of }) => covers(of))?.url;
}

/** One jar's bytes. @throws Error after three tries. */
export async function fetchJar(jar: Jar, repository: string | undefined): Promise<Buffer> {
  const url = await artifactUrl.default(jar, repository);
  for (let left = TRIES; ; left--) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(TRY_WITHIN_MS) });
      if (!response.ok) throw new Error(`it answered ${response.status}`);
      return Buffer.from(await response.arrayBuffer());
    } catch (cause) {
      if (left > 1) continue;
      const { message } = ((cause as Error).cause ?? cause) as Error;
      throw new Error(`${url} could not be read: ${message}`, { cause });
    }
  }
}

/** Writes the jars of `lock` into `folder`. @throws Error for one that cannot be had or is not the one of the lock. */
export async function fetchJars(lock: string, folder: string, repository: string | undefined): Promise<void> {
  const jars = jarsIn(lock).values();
  mkdirSync(folder, { recursive: true });
  const fetchSome = async (): Promise<void> => {
    for (const jar of jars) {
      const bytes = await fetchJar(jar, repository);
      demandChecksum(lock, jar, bytes);
      writeFileSync(join(folder, nameOf(jar)), bytes);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fetchSome));
}

/** As `fetchJars`, by Maven, which is on the path. */
export function copyByMaven(lock: string, folder: string, env: NodeJS.ProcessEnv): void {
  const jars = jarsIn(lock);
  const work = mkdtempSync(join(tmpdir(), 'jars-'));
  const pom = join(work, 'pom.xml');
  try {
    writeFileSync(pom, pomOf(jars));
    const goal = [`${COPYING}:copy-dependencies`, '-DexcludeTransitive=true', `-DoutputDirectory=${folder}`];
    execFileSync('mvn', ['-q', '-B', '-f', pom, ...goal], { env, stdio: 'pipe', maxBuffer: 64 * 2 ** 20 });
  } catch (cause) {
    const { stdout = '', message } = cause as { stdout?: Buffer | string; message: string };
    const complaint = /\[ERROR\] (.*)/.exec(String(stdout))?.[1] ?? message;
    throw new Error(`Maven could not fetch the jars of ${lock}: ${complaint}`, { cause });
  } finally {
    rmSync(work, { recursive: true });
  }
  for (const jar of jars) demandChecksum(lock, jar, readFileSync(join(folder, nameOf(jar))));
}

/** A project that needs these jars and nothing that they need. */
function pomOf(jars: readonly Jar[]): string {
  const exclusions =
    '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>';
  const dependencies = jars.map(
    ({ groupId, artifactId, version }) =>
      `<dependency><groupId>${groupId}</groupId><artifactId>${artifactId}</artifactId><version>${version}</version>${exclusions}</dependency>`,
  );
  const head = '<modelVersion>4.0.0</modelVersion><groupId>jars</groupId><artifactId>jars</artifactId>';
  const rest = `<version>1</version><packaging>pom</packaging><dependencies>${dependencies.join('')}</dependencies>`;
  return `<project>${head}${rest}</project>`;
}

/** By Maven where it is to be asked; where that fails, since it reads no HTTPS_PROXY, by Node. */
async function fetchAsSetUp(lock: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  let complaint = '';
  if (env['MAVEN_REPOSITORY'] === undefined && hasMaven(env)) {
    try {
      copyByMaven(lock, folder, env);
      return;
    } catch (error) {
      complaint = `${(error as Error).message}; and without Maven `;
    }
  }
  try {
    await fetchJars(lock, folder, jarRepository(env));
  } catch (cause) {
    throw new Error(`${complaint}${(cause as Error).message}`, { cause });
  }
}

function hasMaven(env: NodeJS.ProcessEnv): boolean {
  try {
    execFileSync('mvn', ['--version'], { env, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function nameOf({ artifactId, version }: Jar): string {
  return `${artifactId}-${version}.jar`;
}

function demandChecksum(lock: string, jar: Jar & { sha256: string }, bytes: Buffer): void {
  if (createHash('sha256').update(bytes).digest('hex') !== jar.sha256)
    throw new Error(`${nameOf(jar)} has another checksum than ${lock} says: it is not used`);
}

if (import.meta.main) {
  const [lock, folder] = process.argv.slice(2);
  if (lock === undefined || folder === undefined) throw new Error('Name a lock file and a folder');
  try {
    await fetchAsSetUp(lock, folder, process.env);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1); // the other downloads end with it
  }
}
