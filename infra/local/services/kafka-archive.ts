import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findJava, javaIdentity } from '../requirements.mjs';
import { Child } from './child.ts';
import type { Guardian } from './guardian.ts';
import { kafkaJarsFolder } from './kafka-jars.ts';

/**
 * A class data archive spares the broker's start the parsing of seven thousand classes: 3.6 instead of 8.5 seconds of
 * CPU (2 cores, Java 17). It is made from the list of classes that a first start has loaded, and fits
 * these jars and this very Java only.
 */
function kafkaArchive(cache: string): string {
  const java = createHash('sha256').update(javaIdentity()).digest('hex').slice(0, 12);
  return `${kafkaJarsFolder(cache)}-${java}.jsa`;
}

const listIn = (kafkaFolder: string): string => join(kafkaFolder, 'loaded.classes');

/** What a start adds to Java's options: the archive, else that the loaded classes be listed. */
export function archiveOptions(cache: string, kafkaFolder: string): string[] {
  const archive = kafkaArchive(cache);
  if (existsSync(archive))
    return [`-XX:SharedArchiveFile=${archive}`, '-Xlog:disable', '-Xlog:all=error:stderr'];
  return [`-XX:DumpLoadedClassList=${listIn(kafkaFolder)}`];
}

interface ArchiveOptions {
  cache: string;
  /** Of the broker that listed its classes. */
  kafkaFolder: string;
  log: string;
  guardian: Guardian;
}

/**
 * Makes the archive where there is none and a broker runs that lists its classes: ten seconds of CPU in the
 * background, behind everything else. Best effort: without it a start is slower and nothing more.
 * @returns what ends it early.
 */
export function makeKafkaArchive(options: ArchiveOptions): () => Promise<void> {
  const list = listIn(options.kafkaFolder);
  if (existsSync(kafkaArchive(options.cache)) || !existsSync(list)) return () => Promise.resolve();
  const making = dump(options, list);
  return async () => {
    const child = await making;
    await child.stop(0);
  };
}

async function dump({ cache, log, guardian }: ArchiveOptions, list: string): Promise<Child> {
  // The broker is still adding to its list: its last line may be half-written.
  const whole = `${list}.whole`;
  writeFileSync(whole, readFileSync(list, 'utf8').replace(/[^\n]*$/, ''));
  const draft = `${kafkaArchive(cache)}.${process.pid}`;
  const jars = join(kafkaJarsFolder(cache), '*');
  const child = await Child.start({
    name: 'Kafka archive',
    command: 'nice',
    args: [
      ...[
        '-n',
        '19',
        findJava(),
        '-Xshare:dump',
        '-XX:+UseSerialGC',
        '-Xlog:disable',
        '-Xlog:all=error:stderr',
      ],
      ...[`-XX:SharedClassListFile=${whole}`, `-XX:SharedArchiveFile=${draft}`, '-cp', jars],
    ],
    log,
    stopSignal: 'SIGTERM',
    stage: 'service',
    guardian,
  });
  void child.ended.then(({ code }) => {
    if (code === 0 && existsSync(draft)) renameSync(draft, kafkaArchive(cache));
    else rmSync(draft, { force: true });
    rmSync(whole, { force: true });
  });
  return child;
}
