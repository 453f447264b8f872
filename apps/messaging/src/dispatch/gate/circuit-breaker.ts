import type { Clock } from '@customer-platform/database';

/** For so long nothing is asked of core for an organization of whose contacts it did not answer. */
const PAUSE_MS = 5_000;
/** Beyond it those of longest ago are forgotten, and asked about at once. */
const MOST_REMEMBERED = 10_000;

/**
 * For whom core does not answer now, so that no batch waits for what the one before waited for in vain. After a pause
 * one asks again, and the others still do not until it was answered. Each process has its own.
 */
export class CircuitBreaker {
  private readonly until = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Whether to ask for the organization; if there was silence before, the next who wants to know is told not to. */
  mayAsk(organizationId: string): boolean {
    const until = this.until.get(organizationId);
    if (until === undefined) return true;
    if (until > this.clock.now().getTime()) return false;
    this.wasSilent(organizationId);
    return true;
  }

  wasSilent(organizationId: string): void {
    this.until.delete(organizationId);
    this.until.set(organizationId, this.clock.now().getTime() + PAUSE_MS);
    for (const oldest of this.until.keys()) {
      if (this.until.size <= MOST_REMEMBERED) break;
      this.until.delete(oldest);
    }
  }

  hasAnswered(organizationId: string): void {
    this.until.delete(organizationId);
  }
}
