import type { Platform } from '@customer-platform/kit/platform.ts';

/** One request that was answered or broke, and was not repeated. */
export interface Read {
  readonly at: number;
  readonly ms: number;
  /** Undefined where the answer was 200. */
  readonly failure: string | undefined;
}

/** One of each module, so that none is restarted without requests on their way to it. */
const PATHS = [
  '/v1/core/contacts?limit=1',
  '/v1/crm/notes?limit=1',
  '/v1/identity/roles?limit=1',
  '/v1/loyalty/transactions?limit=1',
  '/v1/messaging/templates?limit=1',
];

/** Reads of every module at a steady rate; none is tried again. */
export class SteadyReaders {
  readonly reads: Read[] = [];
  private readonly open = new Set<Promise<void>>();
  private readonly platform: Platform;
  private timer: NodeJS.Timeout | undefined;
  private made = 0;

  constructor(platform: Platform) {
    this.platform = platform;
  }

  start(perSecond: number): void {
    this.timer = setInterval(() => {
      const reading = this.read(PATHS[this.made++ % PATHS.length] ?? '').finally(() =>
        this.open.delete(reading),
      );
      this.open.add(reading);
    }, 1_000 / perSecond);
  }

  async finish(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.open);
  }

  private async read(path: string): Promise<void> {
    const began = performance.now();
    const failure = await this.failureOf(path);
    this.reads.push({ at: Date.now(), ms: performance.now() - began, failure });
  }

  private async failureOf(path: string): Promise<string | undefined> {
    try {
      const answer = await fetch(this.platform.base_url + path, {
        headers: { authorization: `Bearer ${this.platform.admin_key}` },
        signal: AbortSignal.timeout(10_000),
      });
      await answer.arrayBuffer();
      return answer.ok ? undefined : `${answer.status} ${path}`;
    } catch {
      return `connection broken ${path}`;
    }
  }
}
