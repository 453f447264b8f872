import type { HandOff } from './transport-config.js';

/** A token, and for how long it is good. */
export interface IssuedToken {
  readonly token: string;
  readonly forMs: number;
}

/** So long before its end a token is asked for anew: requests take time, and clocks are apart. */
const MARGIN_MS = 60_000;

/**
 * The one token of an account: asked for when it is needed, once for all who wait, and kept until shortly before its end
 * by this process's own clock, whatever the provider's says. A failure is told to those who waited, and not kept.
 */
export class TokenSource {
  private current: { readonly token: string; readonly until: number } | undefined;
  private asking: Promise<string | HandOff> | undefined;

  /** @param ask how it is obtained, or how the hand-off of those who need it ends */
  constructor(private readonly ask: () => Promise<IssuedToken | HandOff>) {}

  /** The token, or how the hand-off ends that needs it. */
  async get(): Promise<string | HandOff> {
    if (this.current && performance.now() < this.current.until) return this.current.token;
    this.asking ??= this.obtain().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  /** The provider does not take this one any more; a newer one stays. */
  forget(token: string): void {
    if (this.current?.token === token) this.current = undefined;
  }

  private async obtain(): Promise<string | HandOff> {
    const issued = await this.ask();
    if ('outcome' in issued) return issued;
    const { token, forMs } = issued;
    this.current = { token, until: performance.now() + forMs - Math.min(MARGIN_MS, forMs / 2) };
    return token;
  }
}
