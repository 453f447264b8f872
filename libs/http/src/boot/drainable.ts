/** Token of what takes work from elsewhere than requests; an app without it has requests alone. */
export const DRAINABLE = Symbol('drainable');

/** Takes work by itself, and none any more from the first sign of shutdown: others shall have it at once. */
export interface Drainable {
  /** Finishes what it has in hand; resolves when others may have the rest. May be called again. */
  drain(): Promise<void>;
}
