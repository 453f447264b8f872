import { Injectable } from '@nestjs/common';

/** Requests that wait for a provider at the same time, in one process. */
const LIMITS = { ofConnection: 16, ofOrganization: 24, ofAll: 48 };

/** Too many wait for a provider already. */
export class ProviderBusy extends Error {
  override readonly name = 'ProviderBusy';

  constructor() {
    super('too many requests wait for the provider of a connection');
  }
}

/** Whose provider is waited for. */
export interface PlaceOf {
  readonly id: string;
  readonly organizationId: string;
}

/**
 * A bulkhead around providers: one that hangs holds each request for seconds, and with it one of the connections that
 * the gateway has to this process. Only so many are held; who comes beyond is refused at once, and nobody else waits.
 */
@Injectable()
export class ProviderPlaces {
  private readonly taken = new Map<string, number>();
  private all = 0;

  /** Waits for a provider by `work`. @throws ProviderBusy at once where no place is free, and what `work` throws */
  async run<T>({ id, organizationId }: PlaceOf, work: () => Promise<T>): Promise<T> {
    const [connection, organization] = [`connection ${id}`, `organization ${organizationId}`];
    const isFull =
      this.all >= LIMITS.ofAll ||
      this.of(connection) >= LIMITS.ofConnection ||
      this.of(organization) >= LIMITS.ofOrganization;
    if (isFull) throw new ProviderBusy();
    this.take([connection, organization], 1);
    try {
      return await work();
    } finally {
      this.take([connection, organization], -1);
    }
  }

  private of(name: string): number {
    return this.taken.get(name) ?? 0;
  }

  private take(names: readonly string[], by: 1 | -1): void {
    this.all += by;
    for (const name of names) {
      const count = this.of(name) + by;
      if (count === 0) this.taken.delete(name);
      else this.taken.set(name, count);
    }
  }
}
