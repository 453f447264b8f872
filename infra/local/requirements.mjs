/**
 * What this machine must have before anything is started. No dependency may be imported here: it runs before
 * packages are installed, on whatever Node there is.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LEAST_NODE = 20;
const LEAST_JAVA = 17;
const MIB = 2 ** 20;

/** Throws an Error of one sentence on a Node that is too old to begin with. */
export function requireNode(version = process.versions.node) {
  if (Number(version.split('.')[0]) >= LEAST_NODE) return;
  throw new Error(
    `Node ${version} is too old: install Node ${LEAST_NODE} or newer (https://nodejs.org) and start again.`,
  );
}

/** Where Homebrew puts a Java that is on no path, with either processor. */
const HOMEBREW = ['/opt/homebrew/opt/openjdk/bin/java', '/usr/local/opt/openjdk/bin/java'];

/** The Java to run Kafka with: JAVA_HOME's, the path's, else Homebrew's. Throws an Error of one sentence. */
export function findJava(env = process.env, homebrew = HOMEBREW) {
  const candidates = [...(env.JAVA_HOME ? [join(env.JAVA_HOME, 'bin/java')] : []), 'java', ...homebrew];
  let complaint = 'Java is missing and Kafka needs it';
  for (const java of candidates) {
    const version = javaVersion(java, env);
    if (version === undefined) continue;
    if (version >= LEAST_JAVA) return java;
    complaint = `Java ${version} (${java}) is too old for Kafka`;
  }
  throw new Error(
    `${complaint}: install Java ${LEAST_JAVA} or newer (Debian, Ubuntu: apt install openjdk-17-jre-headless; Fedora: dnf install java-21-openjdk-headless; macOS: brew install openjdk), or give your own brokers in PLATFORM_KAFKA_BROKERS.`,
  );
}

/** What the Java that {@link findJava} finds says of itself: another text is another Java. */
export function javaIdentity() {
  return javaText(findJava(), process.env);
}

function javaVersion(java, env) {
  const [, first, second] = /version "(\d+)(?:\.(\d+))?/.exec(javaText(java, env)) ?? [];
  return first === undefined ? undefined : Number(first === '1' ? second : first);
}

/** Empty where there is none; a Java says it on standard error, whatever a wrapper of it says on either. */
function javaText(java, env) {
  const { stdout, stderr } = spawnSync(java, ['-version'], { env, encoding: 'utf8' });
  return `${stderr ?? ''}${stdout ?? ''}`;
}

/** Free mebibytes where `folder` is or would be. */
export function freeMebibytes(folder) {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  return Math.floor((bavail * bsize) / MIB);
}

/** Throws an Error of one sentence on a system that is not supported as such. */
export function requireSystem(platform = process.platform) {
  if (platform === 'win32')
    throw new Error(
      'Windows is supported by WSL alone: install it ("wsl --install"), and clone and start this within it.',
    );
}

/** Throws an Error of one sentence where less than `mebibytes` are free. */
export function requireDisk(folder, mebibytes, free = freeMebibytes(folder)) {
  if (free >= mebibytes) return;
  throw new Error(
    `The disk is full: ${folder} has ${free} MB left and ${mebibytes} MB are needed; free some, or choose another place with --data.`,
  );
}

/** The sentence for an error that a full disk caused, whoever met it. */
export function fullDiskSentence(error) {
  if (error?.code !== 'ENOSPC' && !/no space left on device|ENOSPC/i.test(String(error?.message)))
    return undefined;
  return 'The disk is full: free some space and start again; nothing that was stored is lost.';
}
