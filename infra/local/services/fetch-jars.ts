/**
 * `node --use-system-ca --use-env-proxy fetch-jars.ts LOCK FOLDER`: puts the jars that a lock file names into a folder
 * that does not exist yet. A line of it is `group:artifact:version` and the SHA-256 of the jar. It is a program because
 * those two options, which make Node trust what the machine trusts, hold for a whole process.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import artifactUrl from 'mvn-artifact-url';

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
      const name = `${jar.artifactId}-${jar.version}.jar`;
      if (createHash('sha256').update(bytes).digest('hex') !== jar.sha256)
        throw new Error(`${name} has another checksum than ${lock} says: it is not used`);
      writeFileSync(join(folder, name), bytes);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fetchSome));
}

if (import.meta.main) {
  const [lock, folder] = process.argv.slice(2);
  if (lock === undefined || folder === undefined) throw new Error('Name a lock file and a folder');
  try {
    await fetchJars(lock, folder, jarRepository(process.env));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1); // the other downloads end with it
  }
}
