import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Database } from '../database.js';
import { rowSecurity } from '../migrations/row-security.js';
import type { Transaction } from '../transaction.js';

/** What a tenant may have so often, on all instances together. */
export interface TallyBounds {
  /** Its name in the table; its own for each bound. */
  readonly name: string;
  readonly most: number;
  /** Counted by whole spans of so long, from midnight on. */
  readonly spanMs: number;
}

const COUNT = 'SELECT count FROM tenant_tallies WHERE organization_id = $1 AND name = $2 AND began_at = $3';
/** Nothing where they are used up. */
const TAKE = `
INSERT INTO tenant_tallies AS known (organization_id, name, began_at, count) VALUES ($1, $2, $3, 1)
ON CONFLICT (organization_id, name, began_at) DO UPDATE SET count = known.count + 1 WHERE known.count < $4
RETURNING count`;
const FORGET = 'DELETE FROM tenant_tallies WHERE organization_id = $1 AND name = $2 AND began_at < $3';

/** Makes the table of {@link TenantTallies}; its rows stand under the tenant, which reads and writes none itself. */
export function tenantTalliesTable(): string[] {
  return [
    `CREATE TABLE tenant_tallies (
       organization_id uuid NOT NULL,
       name text NOT NULL,
       began_at timestamptz(3) NOT NULL,
       count integer NOT NULL,
       PRIMARY KEY (organization_id, name, began_at)
     )`,
    ...rowSecurity('tenant_tallies'),
  ];
}

/**
 * Counts for a tenant, the organization below the root with all beneath it, what its organizations do: founding further
 * ones gives it no more. Each in a transaction of its own, for the row is not the organization's that asks.
 */
@Injectable()
export class TenantTallies {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Counts one more, if there is one. @returns undefined, or in how many seconds there will be again */
  async take(tenantId: string, { name, most, spanMs }: TallyBounds): Promise<number | undefined> {
    const { began, left } = this.span(spanMs);
    const taking = async (tx: Transaction): Promise<boolean> => {
      await tx.query(FORGET, [tenantId, name, began]);
      return (await tx.query(TAKE, [tenantId, name, began, most])).length > 0;
    };
    const taken = await this.database.inOrganization({ organizationId: tenantId }, taking, { alone: true });
    return taken ? undefined : left;
  }

  /** Counts nothing. @returns undefined, or in how many seconds there will be one again */
  async full(tenantId: string, { name, most, spanMs }: TallyBounds): Promise<number | undefined> {
    const { began, left } = this.span(spanMs);
    const [row] = await this.database.inOrganization(
      { organizationId: tenantId },
      (tx) => tx.query<{ count: number }>(COUNT, [tenantId, name, began]),
      { alone: true },
    );
    return (row?.count ?? 0) >= most ? left : undefined;
  }

  private span(spanMs: number): { began: Date; left: number } {
    const now = this.clock.now().getTime();
    const began = new Date(now - (now % spanMs));
    return { began, left: Math.ceil((began.getTime() + spanMs - now) / 1_000) };
  }
}
