import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';

/** One line of the file, as an event of the batch route. */
export interface Line {
  /** From 1. */
  number: number;
  text: string;
  /** What keeps one contact's events in one lane, and so in order. */
  contact: string;
}

/** A line that is no JSON object; it is accounted as refused and never sent. */
interface BadLine {
  number: number;
  detail: string;
}

/**
 * Reads events, one JSON object a line (`.gz` is inflated), without holding the file.
 *
 * A line without `idempotency_key` gets one of the file's fingerprint and the line's number, so that sending the
 * same file twice stores it once. Empty lines are passed over.
 */
export async function* readLines(
  file: string,
  fingerprint: string,
  after: number,
): AsyncGenerator<Line | BadLine> {
  const bytes = createReadStream(file);
  const lines = createInterface({
    input: file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes,
    crlfDelay: Infinity,
  });
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (number <= after || text.trim() === '') continue;
    yield toLine(number, text, fingerprint);
  }
}

function toLine(number: number, text: string, fingerprint: string): Line | BadLine {
  let event: Record<string, unknown>;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      throw new Error('not an object');
    event = parsed as Record<string, unknown>;
  } catch (error) {
    return { number, detail: (error as Error).message };
  }
  const contact = String(event['external_id']);
  // The text is sent as it stands: parsing and printing it again could change numbers.
  if (event['idempotency_key'] !== undefined) return { number, text, contact };
  const key = JSON.stringify(`replay:${fingerprint}:${number}`);
  const rest = text.trim().slice(1).trimStart();
  return { number, text: `{"idempotency_key":${key}${rest.startsWith('}') ? '' : ','}${rest}`, contact };
}

/** Identifies a file by its size and first mebibyte: cheap on large files, stable over moves. */
export async function fingerprintOf(file: string): Promise<string> {
  const hash = createHash('sha256').update(String(statSync(file).size));
  for await (const chunk of createReadStream(file, { end: (1 << 20) - 1 })) hash.update(chunk as Buffer);
  return hash.digest('hex').slice(0, 16);
}

/** Lines of the file, for the progress bar; gzip is counted after inflating. */
export async function countLines(file: string): Promise<number> {
  let count = 0;
  let last = 10;
  const bytes = createReadStream(file);
  for await (const chunk of file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes) {
    const buffer = chunk as Buffer;
    for (let at = buffer.indexOf(10); at !== -1; at = buffer.indexOf(10, at + 1)) count += 1;
    last = buffer.at(-1) ?? last;
  }
  return last === 10 ? count : count + 1;
}
