import { Injectable } from '@nestjs/common';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** At once, on this instance: each holds a connection of the pool for up to two seconds. */
const MOST = 4;
/** Of one tenant with all organizations below it: who makes further ones gets no more by them. */
const MOST_OF_ONE = MOST / 2;

/** Bounds how many previews and explanations this instance works on at once. */
@Injectable()
export class PreviewSlots {
  private readonly taken = new Map<string, number>();
  private total = 0;

  /** @throws Problem `rate_limited` */
  async hold<T>(
    { organizationId, organization }: Pick<RequestContext, 'organizationId' | 'organization'>,
    work: () => Promise<T>,
  ): Promise<T> {
    // The root belongs to nobody.
    const tenant = organization.tenant_id ?? organizationId;
    const own = this.taken.get(tenant) ?? 0;
    if (own >= MOST_OF_ONE) throw refusal('organization');
    if (this.total >= MOST) throw refusal('platform');
    this.taken.set(tenant, own + 1);
    this.total += 1;
    try {
      return await work();
    } finally {
      this.total -= 1;
      const left = (this.taken.get(tenant) ?? 1) - 1;
      if (left > 0) this.taken.set(tenant, left);
      else this.taken.delete(tenant);
    }
  }
}

function refusal(scope: 'organization' | 'platform'): Problem {
  return new Problem('rate_limited', {
    detail: 'As many previews and explanations as may be are being worked on; try again in 2 s.',
    headers: { 'Retry-After': '2' },
    members: { scope },
  });
}
