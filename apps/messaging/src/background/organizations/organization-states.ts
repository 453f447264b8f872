import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { BackgroundJobs } from '../jobs/background-jobs.js';

/** An organization that may send, or may not. */
export type StateChange = 'identity.organization.suspended.v1' | 'identity.organization.reactivated.v1';

/** What is older than what is known changes nothing. A row without a time is of a release that noted none. */
const SET = `
  INSERT INTO organizations AS known (organization_id, status, status_at) VALUES ($1, $2, $3)
  ON CONFLICT (organization_id) DO UPDATE SET status = excluded.status, status_at = excluded.status_at
   WHERE known.status_at IS NULL OR known.status_at <= excluded.status_at
  RETURNING status`;

/** Which organizations are suspended: their sends are held, and go on when they are active again (check 1). */
@Injectable()
export class OrganizationStates {
  constructor(
    private readonly database: Database,
    private readonly jobs: BackgroundJobs,
  ) {}

  /** Takes over what is not older than what is known: identity tells each change of one at a later time. */
  async apply(events: readonly DomainEvent<StateChange>[]): Promise<void> {
    await this.database.acrossOrganizations(async (tx) => {
      // In one order for all, so that two who lock the same organizations wait instead of deadlocking.
      const inOrder = events.toSorted((a, b) => compare(a.data.id, b.data.id));
      for (const { type, time, data } of inOrder) {
        const active = type === 'identity.organization.reactivated.v1';
        const taken = await tx.query(SET, [data.id, active ? 'active' : 'suspended', time]);
        if (!active || taken.length === 0) continue;
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
