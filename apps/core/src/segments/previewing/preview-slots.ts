import { Problem } from '@customer-platform/problem-json';

/** At once, of one organization and in all: each holds a connection of the pool for up to two seconds. */
const MOST_OF_ONE = 2;
const MOST = 4;

/** Bounds how many previews this instance works on at once. */
export class PreviewSlots {
  private readonly taken = new Map<string, number>();
  private total = 0;

  /** @throws Problem `rate_limited` */
  async hold<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
    const own = this.taken.get(organizationId) ?? 0;
    if (own >= MOST_OF_ONE) throw refusal('organization');
    if (this.total >= MOST) throw refusal('platform');
    this.taken.set(organizationId, own + 1);
    this.total += 1;
    try {
      return await work();
    } finally {
      this.total -= 1;
      const left = (this.taken.get(organizationId) ?? 1) - 1;
      if (left > 0) this.taken.set(organizationId, left);
      else this.taken.delete(organizationId);
    }
  }
}

function refusal(scope: 'organization' | 'platform'): Problem {
  return new Problem('rate_limited', {
    detail: 'As many previews as may be are being worked on; try again in 2 s.',
    headers: { 'Retry-After': '2' },
    members: { scope },
  });
}
