import { Injectable } from '@nestjs/common';
import { Clock, Database, TenantTallies, type Transaction } from '@customer-platform/database';
import { Places, tenantOf, type PlaceBounds, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** How often something may be asked for. */
export interface CallBounds {
  /** Where calls are counted: by `organization_id` and `minute`. Trusted text. */
  readonly table: string;
  /** Calls in a minute, on all instances together. */
  readonly inAMinute: { readonly ofTenant: number; readonly ofOrganization: number };
  /** Calls at once on this instance: slow servers of one leave places to the others. */
  readonly atOnce: PlaceBounds;
  /** Why a call is refused, without its end. */
  readonly detail: string;
}

const MINUTE_MS = 60_000;

/** Bounds how often organizations make the platform call servers of others while a request waits. */
@Injectable()
export class MinuteCalls {
  private readonly places = new Map<string, Places>();

  constructor(
    private readonly database: Database,
    private readonly tallies: TenantTallies,
    private readonly clock: Clock,
  ) {}

  /** @throws Problem `rate_limited` */
  async hold<T>(context: RequestContext, bounds: CallBounds, work: () => Promise<T>): Promise<T> {
    return this.placesOf(bounds).hold(context, async () => {
      await this.count(context, bounds);
      return work();
    });
  }

  private placesOf(bounds: CallBounds): Places {
    const { table, atOnce } = bounds;
    const places = this.places.get(table) ?? new Places(atOnce, (scope) => refusal(bounds, scope, 5));
    this.places.set(table, places);
    return places;
  }

  /** The organization first: what is refused it uses up nothing of its siblings'. */
  private async count(context: RequestContext, bounds: CallBounds): Promise<void> {
    const { organizationId } = context;
    const { table, inAMinute } = bounds;
    const now = this.clock.now().getTime();
    const minute = new Date(now - (now % MINUTE_MS));
    const counting = async (tx: Transaction): Promise<number> => {
      const [row] = await tx.query<{ count: number }>(
        `WITH former AS (DELETE FROM ${table} WHERE organization_id = $1 AND minute < $2)
         INSERT INTO ${table} AS known (organization_id, minute, count) VALUES ($1, $2, 1)
         ON CONFLICT (organization_id, minute) DO UPDATE SET count = least(known.count + 1, $3) RETURNING count`,
        [organizationId, minute, inAMinute.ofOrganization + 1],
      );
      return row?.count ?? 0;
    };
    // It counts whatever the call comes to.
    const count = await this.database.inOrganization(context, counting, { alone: true });
    if (count > inAMinute.ofOrganization)
      throw refusal(bounds, 'organization', Math.ceil((minute.getTime() + MINUTE_MS - now) / 1_000));
    const ofTenant = { name: table, most: inAMinute.ofTenant, spanMs: MINUTE_MS };
    const left = await this.tallies.take(tenantOf(context), ofTenant);
    if (left !== undefined) throw refusal(bounds, 'organization', left);
  }
}

function refusal({ detail }: CallBounds, scope: 'organization' | 'platform', seconds: number): Problem {
  return new Problem('rate_limited', {
    detail: `${detail}; try again in ${String(seconds)} s.`,
    headers: { 'Retry-After': String(seconds) },
    members: { scope },
  });
}
