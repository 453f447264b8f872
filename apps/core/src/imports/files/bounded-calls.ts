import { StorageUnavailable } from './file-store.js';

/** What is to be done of a call for which nobody waits any more. */
interface WhenLate<T> {
  /** Takes what the call came back with, for nobody else does. */
  readonly take?: (value: T) => Promise<unknown>;
  /** It is done even where its turn comes only then: it lets go of something. */
  readonly begin?: boolean;
}

/**
 * Calls that may never come back, so many at once. Each is given up after a while, but keeps its place until it does come
 * back: however many are asked for, no more threads than places are ever held by a volume that hangs.
 */
export class BoundedCalls {
  private readonly waiting: (() => void)[] = [];
  private free: number;

  constructor(
    places: number,
    private readonly patienceMs: number,
  ) {
    this.free = places;
  }

  /** @throws StorageUnavailable where it was not done in time; it may still come to be */
  run<T>(call: () => Promise<T>, whenLate: WhenLate<T> = {}): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let isLate = false;
    const begin = (): void => {
      if (isLate && !whenLate.begin) return this.leave();
      const done = call().then(async (value) => {
        if (isLate) await whenLate.take?.(value);
        return value;
      });
      done.finally(() => this.leave()).then(resolve, reject);
    };
    const timer = setTimeout(() => {
      isLate = true;
      reject(new StorageUnavailable('The folder of imports does not answer'));
    }, this.patienceMs);
    if (this.free > 0) {
      this.free -= 1;
      begin();
    } else this.waiting.push(begin);
    return promise.finally(() => clearTimeout(timer));
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }
}
