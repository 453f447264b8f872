import { copyFileSync, existsSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

const LARGEST = 10 * 2 ** 20;
const EVERY_MS = 5_000;

/**
 * Keeps every log at two files of at most about 10 MB. Processes append to their log themselves, so it is copied and
 * emptied in its place; a line written in between is lost from the copy.
 */
export function boundLogs(folder: string): () => void {
  const timer = setInterval(() => boundOnce(folder), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

export function boundOnce(folder: string, largest = LARGEST): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.log'))) {
    const file = join(folder, name);
    if (statSync(file).size <= largest) continue;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  }
}
