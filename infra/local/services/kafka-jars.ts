import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const LOCK = join(import.meta.dirname, '../kafka/jars.lock');
const FETCH = ['--use-system-ca', '--use-env-proxy', join(import.meta.dirname, 'fetch-jars.ts')];

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
    // Another start may have been first; its copy is as good.
    if (!existsSync(folder)) renameSync(draft, folder);
    return folder;
  } catch (cause) {
    const { stderr, message } = cause as { stderr?: string; message: string };
    throw new Error(`Kafka could not be fetched: ${stderr?.trim() || message}`, { cause });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
