import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** Of an organization in a minute, on all instances together. */
const MOST_IN_A_MINUTE = 30;
/** At once, on this instance. */
const MOST_AT_ONCE = 50;
const MINUTE_MS = 60_000;

const FORGET = 'DELETE FROM sender_domain_calls WHERE organization_id = $1 AND minute < $2';
const COUNT = `
  INSERT INTO sender_domain_calls AS known (organization_id, minute, count) VALUES ($1, $2, 1)
  ON CONFLICT (organization_id, minute) DO UPDATE SET count = least(known.count + 1, $3)
  RETURNING count`;

/** Bounds how often organizations make the platform ask other people's name servers. */
@Injectable()
export class VerifyCalls {
  private underWay = 0;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @throws Problem `rate_limited` */
  async hold<T>(context: RequestContext, work: () => Promise<T>): Promise<T> {
    if (this.underWay >= MOST_AT_ONCE) throw refusal('platform', 5);
    this.underWay += 1;
    try {
      await this.count(context);
      return await work();
    } finally {
      this.underWay -= 1;
    }
  }

  private async count(context: RequestContext): Promise<void> {
    const { organizationId } = context;
    const now = this.clock.now().getTime();
    const minute = new Date(now - (now % MINUTE_MS));
    const count = await this.database.inOrganization(context, async (tx) => {
      await tx.query(FORGET, [organizationId, minute]);
      const [row] = await tx.query<{ count: number }>(COUNT, [organizationId, minute, MOST_IN_A_MINUTE + 1]);
      return row?.count ?? 0;
    });
    if (count > MOST_IN_A_MINUTE)
      throw refusal('organization', Math.ceil((minute.getTime() + MINUTE_MS - now) / 1_000));
  }
}

function refusal(scope: 'organization' | 'platform', seconds: number): Problem {
  return new Problem('rate_limited', {
    detail: `Too many domains are being verified; try again in ${String(seconds)} s.`,
    headers: { 'Retry-After': String(seconds) },
    members: { scope },
  });
}
