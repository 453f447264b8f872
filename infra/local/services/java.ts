import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LEAST_JAVA = 17;
const POM = join(import.meta.dirname, '../kafka/pom.xml');

/** The Java to run Kafka with: JAVA_HOME's, else the path's. @throws Error in a sentence when it is missing or old. */
export async function findJava(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const home = env['JAVA_HOME'];
  const candidates = [...(home === undefined || home === '' ? [] : [join(home, 'bin/java')]), 'java'];
  let found: string | undefined;
  for (const java of candidates) {
    const version = await javaVersion(java, env);
    if (version !== undefined && version >= LEAST_JAVA) return java;
    if (version !== undefined) found = `Java ${version} (${java}) is too old for Kafka`;
  }
  throw new Error(
    `${found ?? 'Java is missing and Kafka needs it'}: install Java ${LEAST_JAVA} or newer (Debian, Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install openjdk), or give your own brokers in KAFKA_BROKERS.`,
  );
}

async function javaVersion(java: string, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  try {
    const { stdout, stderr } = await run(java, ['-version'], { env });
    const [, first, second] = /version "(\d+)(?:\.(\d+))?/.exec(stdout + stderr) ?? [];
    return first === undefined ? undefined : Number(first === '1' ? second : first);
  } catch {
    return undefined; // not there, or no Java at all: the caller says so
  }
}

/**
 * The folder of Kafka's jars; Maven copies them once per version of the pom.
 * @param cache where they are kept between starts.
 */
export async function kafkaJars(cache: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const version = createHash('sha256').update(readFileSync(POM)).digest('hex').slice(0, 12);
  const folder = join(cache, `kafka-${version}`);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(dirname(folder), { recursive: true });
  try {
    await run(
      'mvn',
      [
        '-q',
        '-B',
        '-f',
        POM,
        'dependency:copy-dependencies',
        `-DoutputDirectory=${draft}`,
        '-DincludeScope=runtime',
      ],
      { env, maxBuffer: 64 * 2 ** 20 },
    );
    // Another start may have been first; its copy is as good.
    if (!existsSync(folder)) renameSync(draft, folder);
    return folder;
  } catch (cause) {
    throw mavenProblem(cause as NodeJS.ErrnoException & { stdout?: string });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function mavenProblem(cause: NodeJS.ErrnoException & { stdout?: string }): Error {
  if (cause.code === 'ENOENT') {
    return new Error(
      'Maven is missing and Kafka is fetched with it: install Maven (Debian, Ubuntu: apt install maven; macOS: brew install maven), or give your own brokers in KAFKA_BROKERS.',
      { cause },
    );
  }
  const complaint = /\[ERROR\] (.*)/.exec(cause.stdout ?? '')?.[1] ?? cause.message;
  return new Error(`Maven could not fetch Kafka (is Maven Central reachable from here?): ${complaint}`, {
    cause,
  });
}
