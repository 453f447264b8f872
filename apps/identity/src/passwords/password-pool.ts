import type { Argon2Parameters } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { networkOf, siteOf } from '../vocabulary/network-of.js';

/** Half of the cores at most: the event loop always has one, and so have neighbours. */
const THREADS = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
/** Who comes when so many wait already would have to wait for seconds. */
const MOST_WAITING = 60;
/** Nobody looks at a page for longer; on a machine that is busy otherwise fewer wait. */
const LONGEST_WAIT_MS = 5_000;
const FEWEST_WAITING = 4;
/** So much of the queue is one network's at most, or one site's: whoever fills that keeps nobody else out. */
const OF_A_NETWORK = 1 / 8;
const OF_A_SITE = 1 / 4;
/** What one is taken to last until some have been made. */
const USUAL_MS = 40;

interface Job {
  readonly parameters: Argon2Parameters;
  readonly network: string | null;
  readonly site: string | null;
  readonly resolve: (tag: Buffer) => void;
  readonly reject: (error: Error) => void;
}

// In development and tests a file runs from source, beside sources; built, beside built files.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const WORKER = new URL(`./password-worker.${extension}`, import.meta.url);

/**
 * The threads on which passwords are hashed: few, of the lowest priority, and with a short queue. Neither libuv's
 * threads, which read files and resolve names, nor the CPU that other requests need is taken by somebody who sends
 * passwords.
 */
@Injectable()
export class PasswordPool implements OnModuleDestroy {
  private readonly idle: Worker[] = [];
  private readonly workers = new Set<Worker>();
  private readonly waiting: Job[] = [];
  private usualMs = USUAL_MS;
  private closed = false;

  /** An argon2id tag for who comes from there. @throws Problem `rate_limited` when too many wait, in all or from there */
  derive(parameters: Argon2Parameters, ip?: string): Promise<Buffer> {
    const asked = { parameters, network: networkOf(ip), site: siteOf(ip) };
    const worker = this.freeWorker();
    if (worker) return new Promise((resolve, reject) => this.run(worker, { ...asked, resolve, reject }));
    if (!this.hasRoom(asked)) return Promise.reject(tooBusy());
    return new Promise((resolve, reject) => this.waiting.push({ ...asked, resolve, reject }));
  }

  async onModuleDestroy(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.workers].map((worker) => worker.terminate()));
  }

  private hasRoom({ network, site }: Pick<Job, 'network' | 'site'>): boolean {
    const most = this.mostWaiting();
    if (this.waiting.length >= most) return false;
    const ofNetwork = this.waiting.filter((job) => job.network === network).length;
    if (network !== null && ofNetwork >= Math.ceil(most * OF_A_NETWORK)) return false;
    const ofSite = this.waiting.filter((job) => job.site === site).length;
    return site === null || ofSite < Math.ceil(most * OF_A_SITE);
  }

  private mostWaiting(): number {
    const inTime = Math.floor((LONGEST_WAIT_MS * THREADS) / this.usualMs);
    return Math.min(MOST_WAITING, Math.max(FEWEST_WAITING, inTime));
  }

  private freeWorker(): Worker | undefined {
    const idle = this.idle.pop();
    if (idle || this.workers.size >= THREADS) return idle;
    const worker = new Worker(WORKER, { name: 'passwords' });
    this.workers.add(worker);
    // Whoever waits for its answer is told by listeners of their own; an error that nobody hears ends the process.
    worker.on('error', (error) => log.error({ err: error }, 'The thread that hashes passwords failed'));
    worker.once('exit', () => this.forget(worker));
    return worker;
  }

  /** A thread that has ended for whatever reason is replaced by the next one who needs it. */
  private forget(worker: Worker): void {
    this.workers.delete(worker);
    const index = this.idle.indexOf(worker);
    if (index !== -1) this.idle.splice(index, 1);
    this.next();
  }

  private run(worker: Worker, { parameters, resolve, reject }: Job): void {
    const begun = performance.now();
    const done = (): void => {
      worker.off('message', onTag).off('error', onError).off('exit', onExit);
      worker.unref();
    };
    const onTag = (tag: Uint8Array): void => {
      done();
      this.usualMs += (performance.now() - begun - this.usualMs) / 10;
      this.idle.push(worker);
      resolve(Buffer.from(tag));
      this.next();
    };
    const onError = (error: Error): void => {
      done();
      reject(error);
    };
    const onExit = (): void => onError(new Error('The thread that hashes passwords has ended'));
    worker.on('message', onTag).on('error', onError).on('exit', onExit);
    // Only work keeps the process: an idle thread does not.
    worker.ref();
    worker.postMessage(parameters);
  }

  private next(): void {
    if (this.closed || this.waiting.length === 0) return;
    const worker = this.freeWorker();
    const job = worker && this.waiting.shift();
    if (worker && job) this.run(worker, job);
  }
}

/** Nothing was looked at, so nothing was learned by it. */
export function tooBusy(): Problem {
  return new Problem('rate_limited', {
    detail: 'Too many passwords are being looked at in this moment; try again shortly.',
    headers: { 'Retry-After': '2' },
    members: { scope: 'platform' },
  });
}
