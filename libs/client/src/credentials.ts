/**
 * An API key or an access token, or what gives one. A function is asked before every request; after the service has
 * called the last one expired or invalid it is asked once more, with `renew`.
 */
export type Credentials =
  string | ((why: { renew: boolean }) => string | undefined | Promise<string | undefined>);

/**
 * Asks for credentials. However many calls are refused at the same time, a renewal runs once: a refresh token that
 * rotates counts as stolen when it is used twice.
 */
export class CredentialSource {
  private renewing: Promise<string | undefined> | undefined;
  private renewals = 0;
  private readonly credentials: Credentials | undefined;

  constructor(credentials: Credentials | undefined) {
    this.credentials = credentials;
  }

  get canRenew(): boolean {
    return typeof this.credentials === 'function';
  }

  /** The credential to send, and a mark of its time for {@link renew}. */
  async current(): Promise<{ token: string | undefined; since: number }> {
    if (this.renewing) return { token: await this.renewing, since: this.renewals };
    const since = this.renewals;
    const token =
      typeof this.credentials === 'function' ? await this.credentials({ renew: false }) : this.credentials;
    return { token, since };
  }

  /** A newer one than that of `since`. */
  async renew(since: number): Promise<string | undefined> {
    if (typeof this.credentials !== 'function') return this.credentials;
    if (this.renewals !== since) return (await this.current()).token;
    const ask = this.credentials;
    this.renewing ??= Promise.resolve()
      .then(() => ask({ renew: true }))
      .finally(() => {
        this.renewals += 1;
        this.renewing = undefined;
      });
    return this.renewing;
  }
}
