import { Injectable } from '@nestjs/common';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** At once, on this instance: each writes to the disk as fast as it is sent. */
const MOST = 4;
const MOST_OF_ONE = MOST / 2;

/** Bounds how many files this instance takes at once. */
@Injectable()
export class UploadSlots {
  private readonly taken = new Map<string, number>();
  private total = 0;

  /** @throws Problem `rate_limited` */
  async hold<T>(
    { organizationId }: Pick<RequestContext, 'organizationId'>,
    work: () => Promise<T>,
  ): Promise<T> {
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
    detail: 'As many files as may be are being taken; try again in 10 s.',
    headers: { 'Retry-After': '10' },
    members: { scope },
  });
}
