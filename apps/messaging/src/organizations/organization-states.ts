import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';

/** An organization that may send, or may not. */
export type StateChange = 'identity.organization.suspended.v1' | 'identity.organization.reactivated.v1';

const SET = `
  INSERT INTO organizations (organization_id, status) VALUES ($1, $2)
  ON CONFLICT (organization_id) DO UPDATE SET status = excluded.status`;

const RELEASE = `
  UPDATE sends SET due_at = $2, release_at = $2
   WHERE organization_id = $1 AND due_at IS NOT NULL AND state = 'held' AND reason = 'organization_suspended'`;

/** Which organizations are suspended: their sends are held, and go on when they are active again (check 1). */
@Injectable()
export class OrganizationStates {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Repeating an event changes nothing; of several the last stands. */
  async apply(events: readonly DomainEvent<StateChange>[]): Promise<void> {
    await this.database.acrossOrganizations(async (tx) => {
      // In one order for all, so that two who lock the same organizations wait instead of deadlocking.
      const inOrder = events.toSorted((a, b) => compare(a.data.id, b.data.id));
      for (const { type, data } of inOrder) {
        const active = type === 'identity.organization.reactivated.v1';
        await tx.query(SET, [data.id, active ? 'active' : 'suspended']);
        if (active) await tx.query(RELEASE, [data.id, this.clock.now()]);
      }
    });
  }
}

/** A sort by it keeps the events of one organization in their order. */
function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
