import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Asked, Listener, Told } from './reader-thread.ts';

/** Readers of streams, in a thread of their own. One question at a time. */
export class Readers {
  private readonly thread = new Worker(new URL('./reader-thread.ts', import.meta.url));

  /** Opens them all. @throws Error where one is not answered 200 */
  open(listeners: readonly Listener[]): Promise<Told> {
    return this.ask({ open: listeners });
  }

  /** What they were told so far. */
  look(): Promise<Told> {
    return this.ask({ look: true });
  }

  /** They go away. @returns what they were told */
  close(): Promise<Told> {
    return this.ask({ close: true });
  }

  async end(): Promise<void> {
    await this.thread.terminate();
  }

  private async ask(asked: Asked): Promise<Told> {
    const answered = once(this.thread, 'message');
    this.thread.postMessage(asked);
    const [told] = (await answered) as [Told];
    return told;
  }
}
