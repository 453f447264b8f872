import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { Client } from '@customer-platform/client';
import { publicApi } from '@customer-platform/kit/public-api.ts';
import { MOST_BYTES, MOST_EVENTS, settleBatch } from './lane.ts';
import { type Line, fingerprintOf, readLines } from './lines.ts';
import { type Account, Progress } from './progress.ts';

interface ReplayOptions {
  file: string;
  to: { baseUrl: string; key: string };
  /** Where the account is kept, so that the same replay can be resumed. */
  progressFile: string;
  /** Refused lines, with code and detail, are written here. */
  refusedFile: string;
  /** Events a second; unlimited where absent. */
  rate?: number;
  lanes?: number;
  signal?: AbortSignal;
  onProgress?: (account: Account, note?: string) => void;
}

const LANES = 4;

/**
 * Sends a file of events through the batch route and resolves with the account of it.
 *
 * Events of one contact go through one lane, one batch after the other, so that they arrive in the file's order.
 * Stopped by `signal` or a crash, the next call goes on after the last line of which everything is settled.
 *
 * @throws Error on an answer that no retry changes; what was settled until then is kept.
 */
export async function replay(options: ReplayOptions): Promise<Account> {
  const fingerprint = await fingerprintOf(options.file);
  const destination = createHash('sha256')
    .update(options.to.baseUrl + options.to.key)
    .digest('hex')
    .slice(0, 8);
  const progress = new Progress(options.progressFile, `${fingerprint}-${destination}`);
  const client = await patientClient(options, progress.account);
  const refused = createWriteStream(options.refusedFile, {
    flags: progress.account.settled_line === 0 ? 'w' : 'a',
  });
  const lanes = Array.from(
    { length: options.lanes ?? LANES },
    () => new Lane(options, client, progress, refused),
  );
  const pace = new Pace(options.rate);
  let previous = progress.account.settled_line;
  try {
    for await (const line of readLines(options.file, fingerprint, previous)) {
      for (let empty = previous + 1; empty < line.number; empty += 1) progress.skip(empty);
      previous = line.number;
      if (options.signal?.aborted === true) break;
      if ('detail' in line) {
        refused.write(
          `${JSON.stringify({ line: line.number, code: 'malformed_json', detail: line.detail })}\n`,
        );
        progress.refused(line.number, 'malformed_json');
        continue;
      }
      await pace.next();
      await (lanes[laneOf(line.contact, lanes.length)] as Lane).add(line);
    }
    await Promise.all(lanes.map((lane) => lane.flush()));
    await Promise.all(lanes.map((lane) => lane.idle()));
  } finally {
    await Promise.allSettled(lanes.map((lane) => lane.idle()));
    progress.save(true);
    await new Promise((resolve) => refused.end(resolve));
  }
  options.onProgress?.(progress.account);
  return progress.account;
}

/** One that never gives up what may yet pass, but for who stops the replay. */
async function patientClient(options: ReplayOptions, account: Account): Promise<Client> {
  const { baseUrl, key } = options.to;
  return publicApi(baseUrl, key, {
    retry: { attempts: Infinity, withinMs: Infinity },
    onProblem: (error, { retryInMs }) => {
      if (retryInMs === undefined) return;
      if (options.signal?.aborted === true) throw new Error('stopped');
      const why = 'code' in error ? error.code : error.message;
      options.onProgress?.(account, `waiting ${(retryInMs / 1000).toFixed(1)} s: ${why}`);
    },
  });
}

/** One sender: gathers a batch, sends it, and takes the next lines meanwhile, one batch ahead at most. */
class Lane {
  private batch: Line[] = [];
  private bytes = 0;
  private sending: Promise<void> = Promise.resolve();

  private readonly options: ReplayOptions;
  private readonly client: Client;
  private readonly progress: Progress;
  private readonly refused: NodeJS.WritableStream;

  constructor(options: ReplayOptions, client: Client, progress: Progress, refused: NodeJS.WritableStream) {
    this.options = options;
    this.client = client;
    this.progress = progress;
    this.refused = refused;
  }

  async add(line: Line): Promise<void> {
    const size = Buffer.byteLength(line.text) + 1;
    const full = this.batch.length >= this.batchSize() || this.bytes + size > MOST_BYTES;
    if (full && this.batch.length > 0) await this.flush();
    this.batch.push(line);
    this.bytes += size;
  }

  /** Waits for the batch before, then sends the batch without waiting for its answer. */
  async flush(): Promise<void> {
    await this.sending;
    const lines = this.batch;
    this.batch = [];
    this.bytes = 0;
    if (lines.length > 0) this.sending = this.settle(lines);
    // Whoever waits for this lane next is told; until then the rejection must not count as unhandled.
    void Promise.allSettled([this.sending]);
  }

  async idle(): Promise<void> {
    await this.sending;
  }

  /** A slow rate gets small batches, so that the events flow instead of arriving in lumps. */
  private batchSize(): number {
    return this.options.rate === undefined
      ? MOST_EVENTS
      : Math.max(1, Math.min(MOST_EVENTS, Math.ceil(this.options.rate / 20)));
  }

  private async settle(lines: Line[]): Promise<void> {
    this.progress.account.sent += lines.length;
    const verdicts = await settleBatch(lines, this.client, {
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      ...(this.options.signal ? { signal: this.options.signal } : {}),
      paused: (ms, why) =>
        this.options.onProgress?.(this.progress.account, `waiting ${(ms / 1000).toFixed(1)} s: ${why}`),
    });
    for (const { line, refusal } of verdicts) {
      if (refusal === undefined) this.progress.accepted(line.number);
      else {
        this.refused.write(`${JSON.stringify({ line: line.number, ...refusal })}\n`);
        this.progress.refused(line.number, refusal.code);
      }
    }
    this.options.onProgress?.(this.progress.account);
  }
}

/** Lets one event pass every 1/rate seconds, on average since the start. */
class Pace {
  private readonly began = performance.now();
  private passed = 0;

  private readonly rate: number | undefined;

  constructor(rate: number | undefined) {
    this.rate = rate;
  }

  async next(): Promise<void> {
    if (this.rate === undefined) return;
    const due = this.began + (this.passed / this.rate) * 1000;
    this.passed += 1;
    const early = due - performance.now();
    if (early > 4) await new Promise((resolve) => setTimeout(resolve, early));
  }
}

function laneOf(contact: string, lanes: number): number {
  return createHash('md5').update(contact).digest().readUInt32BE(0) % lanes;
}
