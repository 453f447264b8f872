import { Injectable } from '@nestjs/common';
import {
  Clock,
  Database,
  TenantTallies,
  type TallyBounds,
  type Transaction,
} from '@customer-platform/database';
import { tenantOf, type PlaceOwner } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** So many refusals an hour may tell an organization that an address is known (identity.md §3). */
const MOST_PROBES = 60;
const HOUR_MS = 3_600_000;
/** And so many its tenant, in whichever of its organizations. */
const OF_TENANT: TallyBounds = { name: 'address_probes', most: 120, spanMs: HOUR_MS };

const COUNT = 'SELECT count FROM address_probes WHERE organization_id = $1 AND hour = $2';
/** Nothing where they are used up. */
const TAKE = `
INSERT INTO address_probes AS known (organization_id, hour, count) VALUES ($1, $2, 1)
ON CONFLICT (organization_id, hour) DO UPDATE SET count = known.count + 1 WHERE known.count < $3
RETURNING count`;
const FORGET = 'DELETE FROM address_probes WHERE organization_id = $1 AND hour < $2';

/** Keeps an organization, and a tenant by many of them, from trying out which addresses the platform knows. */
@Injectable()
export class AddressProbes {
  constructor(
    private readonly database: Database,
    private readonly tallies: TenantTallies,
    private readonly clock: Clock,
  ) {}

  /** @throws Problem `rate_limited` when the hour's probes of the organization are used up */
  async demandRoom(tx: Transaction): Promise<void> {
    const { hour, left } = this.hour();
    const [row] = await tx.query<{ count: number }>(COUNT, [tx.organizationId, hour]);
    if (row && row.count >= MOST_PROBES) throw usedUp(left);
  }

  /** Outside of any transaction. @throws Problem `rate_limited` when those of its tenant are */
  async demandRoomOfTenant(where: PlaceOwner): Promise<void> {
    const left = await this.tallies.full(tenantOf(where), OF_TENANT);
    if (left !== undefined) throw usedUp(left);
  }

  /**
   * Uses one up, in a transaction of its own: the change that was refused left nothing. Of many at once as many are
   * told as there is room for.
   * @throws Problem `rate_limited` likewise
   */
  async take(where: PlaceOwner): Promise<void> {
    const { hour, left } = this.hour();
    const taking = async (tx: Transaction): Promise<boolean> => {
      await tx.query(FORGET, [where.organizationId, hour]);
      return (await tx.query(TAKE, [where.organizationId, hour, MOST_PROBES])).length > 0;
    };
    if (!(await this.database.inOrganization(where, taking, { alone: true }))) throw usedUp(left);
    const leftOfTenant = await this.tallies.take(tenantOf(where), OF_TENANT);
    if (leftOfTenant !== undefined) throw usedUp(leftOfTenant);
  }

  private hour(): { hour: Date; left: number } {
    const now = this.clock.now().getTime();
    const hour = new Date(now - (now % HOUR_MS));
    return { hour, left: Math.ceil((hour.getTime() + HOUR_MS - now) / 1_000) };
  }
}

function usedUp(left: number): Problem {
  return new Problem('rate_limited', {
    detail: `Too many addresses that are taken; try again in ${String(left)} s.`,
    headers: { 'Retry-After': String(left) },
    members: { scope: 'organization' },
  });
}
