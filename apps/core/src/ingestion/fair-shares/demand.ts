/** Over so long what is sent is averaged, in milliseconds: a batch now and then is no flood. */
const MEMORY_MS = 1_000;
/** Part of what all may send: a tenant that sends less is nobody's rival. */
const SMALL = 0.01;
/** Events a second below which a tenant is forgotten. */
const NOTHING = 0.01;
/** Part of what is known of a tenant's requests that the next one replaces. */
const NEWS = 0.2;

/** Events a second, each counting the less the longer ago it was. */
class Rate {
  private events = 0;
  private at = 0;

  value(now: number): number {
    return (this.events * Math.exp((this.at - now) / MEMORY_MS)) / (MEMORY_MS / 1_000);
  }

  add(events: number, now: number): void {
    this.events = this.events * Math.exp((this.at - now) / MEMORY_MS) + events;
    this.at = now;
  }
}

interface Sending {
  readonly rate: Rate;
  /** Events of one of its requests. */
  usual: number;
  refusedAt: number;
}

/** Counts how much each tenant sends, in events a second, which of them would send more, and how much is done of all. */
export class Demand {
  private readonly tenants = new Map<string, Sending>();
  private readonly all = new Rate();

  constructor(private readonly now: () => number) {}

  /** Events of the tenant that are taken. */
  of(tenant: string): number {
    return this.tenants.get(tenant)?.rate.value(this.now()) ?? 0;
  }

  /** Events a second that are done of all together. */
  get done(): number {
    return this.all.value(this.now());
  }

  /** A request of the tenant is taken. How many events it is held to have. */
  take(tenant: string): number {
    const known = this.tenants.get(tenant);
    const one = known ?? { rate: new Rate(), usual: 1, refusedAt: -Infinity };
    if (!known) this.tenants.set(tenant, one);
    one.rate.add(one.usual, this.now());
    return one.usual;
  }

  /** One that was held to have `held` events is done: so many of it were looked at. */
  settle(tenant: string, held: number, looked: number): void {
    this.all.add(looked, this.now());
    const one = this.tenants.get(tenant);
    if (one === undefined) return;
    one.rate.add(looked - held, this.now());
    one.usual += NEWS * (looked - one.usual);
  }

  /** It was refused: it would send more than it does. */
  refuse(tenant: string): void {
    const one = this.tenants.get(tenant);
    if (one) one.refusedAt = this.now();
  }

  /**
   * Returns what a tenant may send where all together may send `target`: who asks for less than an equal part gets it, and leaves
   * the rest to the others, who get as much as each other. Infinite where there is enough, or only one.
   */
  shareOf(target: number): number {
    const now = this.now();
    const asked: number[] = [];
    for (const [tenant, { rate, refusedAt }] of this.tenants) {
      const sent = rate.value(now);
      if (sent < NOTHING) this.tenants.delete(tenant);
      else if (sent > target * SMALL) asked.push(now - refusedAt < MEMORY_MS ? Infinity : sent);
    }
    if (asked.length < 2) return Infinity;
    asked.sort((one, other) => one - other);
    let left = target;
    for (const [at, each] of asked.entries()) {
      const equal = left / (asked.length - at);
      if (each > equal) return equal;
      left -= each;
    }
    return Infinity;
  }
}
