import { Injectable } from '@nestjs/common';
import { Clock, Database, type Transaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** How often something may be asked for. */
export interface CallBounds {
  /** Where calls are counted: by `organization_id` and `minute`. Trusted text. */
  readonly table: string;
  /** Of an organization, on all instances together. */
  readonly mostInAMinute: number;
  /** Of all organizations at once, on this instance. */
  readonly mostAtOnce: number;
  /** Of one organization at once, on this instance: slow servers of one leave places to the others. */
  readonly mostAtOnceOfOne: number;
  /** Why a call is refused, without its end. */
  readonly detail: string;
}

const MINUTE_MS = 60_000;

/** Bounds how often organizations make the platform call servers of others while a request waits. */
@Injectable()
export class MinuteCalls {
  private readonly underWay = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @throws Problem `rate_limited` */
  async hold<T>(context: RequestContext, bounds: CallBounds, work: () => Promise<T>): Promise<T> {
    const { table, mostAtOnce, mostAtOnceOfOne } = bounds;
    const own = `${table} ${context.organizationId}`;
    if (this.held(own) >= mostAtOnceOfOne) throw refusal(bounds, 'organization', 5);
    if (this.held(table) >= mostAtOnce) throw refusal(bounds, 'platform', 5);
    this.take(table, 1);
    this.take(own, 1);
    try {
      await this.count(context, bounds);
      return await work();
    } finally {
      this.take(table, -1);
      this.take(own, -1);
    }
  }

  private held(place: string): number {
    return this.underWay.get(place) ?? 0;
  }

  private take(place: string, places: 1 | -1): void {
    const held = this.held(place) + places;
    if (held > 0) this.underWay.set(place, held);
    else this.underWay.delete(place);
  }

  private async count(context: RequestContext, bounds: CallBounds): Promise<void> {
    const { organizationId } = context;
    const { table, mostInAMinute } = bounds;
    const now = this.clock.now().getTime();
    const minute = new Date(now - (now % MINUTE_MS));
    const counting = async (tx: Transaction): Promise<number> => {
      await tx.query(`DELETE FROM ${table} WHERE organization_id = $1 AND minute < $2`, [
        organizationId,
        minute,
      ]);
      const [row] = await tx.query<{ count: number }>(
        `INSERT INTO ${table} AS known (organization_id, minute, count) VALUES ($1, $2, 1)
         ON CONFLICT (organization_id, minute) DO UPDATE SET count = least(known.count + 1, $3) RETURNING count`,
        [organizationId, minute, mostInAMinute + 1],
      );
      return row?.count ?? 0;
    };
    // It counts whatever the call comes to.
    const count = await this.database.inOrganization(context, counting, { alone: true });
    if (count > mostInAMinute)
      throw refusal(bounds, 'organization', Math.ceil((minute.getTime() + MINUTE_MS - now) / 1_000));
  }
}

function refusal({ detail }: CallBounds, scope: 'organization' | 'platform', seconds: number): Problem {
  return new Problem('rate_limited', {
    detail: `${detail}; try again in ${String(seconds)} s.`,
    headers: { 'Retry-After': String(seconds) },
    members: { scope },
  });
}
