import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { BackgroundJobs } from '../jobs/background-jobs.js';

/** An organization that may send, or may not. */
export type StateChange = 'identity.organization.suspended.v1' | 'identity.organization.reactivated.v1';

const SET = `
  INSERT INTO organizations (organization_id, status) VALUES ($1, $2)
  ON CONFLICT (organization_id) DO UPDATE SET status = excluded.status`;

/** Which organizations are suspended: their sends are held, and go on when they are active again (check 1). */
@Injectable()
export class OrganizationStates {
  constructor(
    private readonly database: Database,
    private readonly jobs: BackgroundJobs,
  ) {}

  /** Repeating an event changes nothing; of several the last stands. */
  async apply(events: readonly DomainEvent<StateChange>[]): Promise<void> {
    await this.database.acrossOrganizations(async (tx) => {
      // In one order for all, so that two who lock the same organizations wait instead of deadlocking.
      const inOrder = events.toSorted((a, b) => compare(a.data.id, b.data.id));
      for (const { type, data } of inOrder) {
        const active = type === 'identity.organization.reactivated.v1';
        await tx.query(SET, [data.id, active ? 'active' : 'suspended']);
        if (!active) continue;
        await tx.useOrganization(data.id);
        await this.jobs.add(tx, 'release_sends', data.id);
      }
    });
  }
}

/** A sort by it keeps the events of one organization in their order. */
function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
