import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { requireMaven } from '../requirements.mjs';

const POM = join(import.meta.dirname, '../kafka/pom.xml');

/** Where this version of the pom has its jars. */
export function kafkaJarsFolder(cache: string): string {
  const version = createHash('sha256').update(readFileSync(POM)).digest('hex').slice(0, 12);
  return join(cache, `kafka-${version}`);
}

/**
 * The folder of Kafka's jars; Maven copies them once per version of the pom.
 * @param cache where they are kept between starts.
 * @throws Error of one sentence.
 */
export async function kafkaJars(cache: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const folder = kafkaJarsFolder(cache);
  if (existsSync(folder)) return folder;
  requireMaven(env);
  const draft = `${folder}.${process.pid}`;
  mkdirSync(dirname(folder), { recursive: true });
  try {
    await promisify(execFile)(
      'mvn',
      [
        ...['-q', '-B', '-f', POM, 'dependency:copy-dependencies'],
        ...[`-DoutputDirectory=${draft}`, '-DincludeScope=runtime'],
      ],
      { env, maxBuffer: 64 * 2 ** 20 },
    );
    // Another start may have been first; its copy is as good.
    if (!existsSync(folder)) renameSync(draft, folder);
    return folder;
  } catch (cause) {
    const { stdout = '', message } = cause as { stdout?: string; message: string };
    const complaint = /\[ERROR\] (.*)/.exec(stdout)?.[1] ?? message;
    throw new Error(`Maven could not fetch Kafka (is Maven Central reachable from here?): ${complaint}`, {
      cause,
    });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
