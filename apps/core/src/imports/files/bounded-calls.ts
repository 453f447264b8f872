import { StorageUnavailable } from './file-store.js';

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
  run<T>(call: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let isLate = false;
    const begin = (): void => {
      if (isLate) return this.leave();
      const done = call().finally(() => this.leave());
      done.then(resolve, reject);
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
