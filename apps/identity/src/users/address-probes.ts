import { Injectable } from '@nestjs/common';
import { Clock, Database, type OrganizationScope, type Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';

/** So many refused creations an hour may tell an organization that an address is known (identity.md §3). */
const MOST_PROBES = 60;
const HOUR_MS = 3_600_000;

const COUNT = 'SELECT count FROM address_probes WHERE organization_id = $1 AND hour = $2';
const ADD = `
INSERT INTO address_probes AS known (organization_id, hour, count) VALUES ($1, $2, 1)
ON CONFLICT (organization_id, hour) DO UPDATE SET count = known.count + 1`;
const FORGET = 'DELETE FROM address_probes WHERE organization_id = $1 AND hour < $2';

/** Keeps an organization from trying out which addresses the platform knows. */
@Injectable()
export class AddressProbes {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @throws Problem `rate_limited` when the hour's probes are used up */
  async demandRoom(where: OrganizationScope): Promise<void> {
    const { hour, left } = this.hour();
    const [row] = await this.database.inOrganization(where, (tx) =>
      tx.query<{ count: number }>(COUNT, [where.organizationId, hour]),
    );
    if ((row?.count ?? 0) < MOST_PROBES) return;
    throw new Problem('rate_limited', {
      detail: `Too many addresses that are taken; try again in ${String(left)} s.`,
      headers: { 'Retry-After': String(left) },
      members: { scope: 'organization' },
    });
  }

  /** In a transaction of its own: the creation that was refused left nothing. */
  async note(where: OrganizationScope): Promise<void> {
    const { hour } = this.hour();
    const noting = async (tx: Transaction): Promise<void> => {
      await tx.query(FORGET, [where.organizationId, hour]);
      await tx.query(ADD, [where.organizationId, hour]);
    };
    await this.database.inOrganization(where, noting, { alone: true });
  }

  private hour(): { hour: Date; left: number } {
    const now = this.clock.now().getTime();
    const hour = new Date(now - (now % HOUR_MS));
    return { hour, left: Math.ceil((hour.getTime() + HOUR_MS - now) / 1_000) };
  }
}
