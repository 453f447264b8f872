import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const LOCK = join(import.meta.dirname, '../kafka/jars.lock');
const FETCH = ['--use-system-ca', '--use-env-proxy', join(import.meta.dirname, 'fetch-jars.ts')];

/** Another start, of any checkout, may have been first; its copy is as good. */
function putInPlace(draft: string, folder: string): void {
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

/** Where the jars of this lock file are. */
export function kafkaJarsFolder(cache: string): string {
  const version = createHash('sha256').update(readFileSync(LOCK)).digest('hex').slice(0, 12);
  return join(cache, `kafka-${version}`);
}

/**
 * The folder of Kafka's jars, which are fetched once per lock file.
 * @param cache where they are kept between starts.
 * @throws Error of one sentence.
 */
export async function kafkaJars(cache: string): Promise<string> {
  const folder = kafkaJarsFolder(cache);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(dirname(folder), { recursive: true });
  try {
    await promisify(execFile)(process.execPath, [...FETCH, LOCK, draft]);
    putInPlace(draft, folder);
    return folder;
  } catch (cause) {
    const { stderr, message } = cause as { stderr?: string; message: string };
    throw new Error(
      `Kafka could not be fetched: ${(stderr?.trim() || message).replaceAll(/\s*\n\s*/g, ' ')}. Behind a proxy set HTTPS_PROXY; another repository is named by MAVEN_REPOSITORY.`,
      { cause },
    );
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
