import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import { metrics } from '@customer-platform/http';
import { Counter } from 'prom-client';
import type { WorkedRun } from './worked-run.js';

/** So many failures, some minutes, say that it does not pass by itself. */
export const MOST_TRIES = 10;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;
/** Sends are stamped by the clock of whoever makes them, and so is the begin of their run. */
const CLOCKS_APART_MS = 3_600_000;

const putOff = new Counter({
  name: 'campaign_members_put_off_total',
  help: 'Members of audiences who could not be handed over, by what became of them: looked at again, or skipped',
  labelNames: ['outcome'],
  registers: [metrics],
});

/** Who waits to be looked at again is passed over; there are few of them. */
const PENDING = `
  SELECT id, contact_id FROM campaign_members
   WHERE organization_id = $1 AND run_id = $2 AND state = 'pending' AND look_at <= $3
   ORDER BY organization_id, run_id, id LIMIT $4`;

const WAITING = `
  SELECT 1 FROM campaign_members WHERE organization_id = $1 AND run_id = $2 AND state = 'pending'
   ORDER BY organization_id, run_id, id LIMIT 1`;

const PUT_OFF = `
  UPDATE campaign_members
     SET tries = tries + 1,
         look_at = $4::timestamptz + least($5::float8 * 2 ^ tries, $6::float8) * interval '1 millisecond',
         state = CASE WHEN tries + 1 < $7 THEN state ELSE 'skipped' END,
         reason = CASE WHEN tries + 1 < $7 THEN reason ELSE 'internal_error' END
   WHERE organization_id = $1 AND run_id = $2 AND id = ANY($3::bigint[]) AND state = 'pending'
  RETURNING state`;

const TAKEN = `
  SELECT address_key FROM campaign_members
   WHERE organization_id = $1 AND run_id = $2 AND address_key = ANY($3::text[])`;

/** Of these contacts, those who have a send of the run, or into whom somebody was merged who has one. */
const REACHED = `
  WITH RECURSIVE family AS (
    SELECT id AS survivor, id FROM unnest($3::uuid[]) AS asked (id)
    UNION
    SELECT family.survivor, known.id FROM family JOIN contacts AS known
        ON known.organization_id = $1 AND known.merged_into = family.id)
  SELECT DISTINCT family.survivor FROM family CROSS JOIN LATERAL (
    SELECT FROM sends AS s
     WHERE s.organization_id = $1 AND s.contact_id = family.id AND s.created_at >= $4
       -- No index serves this: the one by run holds all sends of the run, and each of five hundred would read them.
       AND s.run_id IS NOT DISTINCT FROM $2
     LIMIT 1) AS found`;

const SETTLE = `
  UPDATE campaign_members m SET state = d.state, reason = d.reason, send_id = d.send_id, address_key = d.address_key,
         contact_id = CASE WHEN d.reason = 'erased' THEN NULL ELSE m.contact_id END
    FROM jsonb_to_recordset($3::jsonb) AS d (id bigint, state text, reason text, send_id uuid, address_key text)
   WHERE m.organization_id = $1 AND m.run_id = $2 AND m.id = d.id`;

/** One of an audience. */
export interface Member {
  readonly id: string;
  readonly contact_id: string;
}

/** What a member has become. */
export interface SettledMember {
  readonly id: string;
  readonly state: 'skipped' | 'accepted';
  readonly reason?: string;
  readonly send_id?: string;
  readonly address_key?: string;
}

/** The table `campaign_members`, as those who are handed over see it. */
@Injectable()
export class CampaignMembersRepository {
  constructor(private readonly clock: Clock) {}

  /** The next members of a run who can be looked at now, the first first; locked where they are to be changed. */
  pending(
    tx: Transaction,
    { organizationId, id }: WorkedRun,
    most: number,
    { lock }: { readonly lock: boolean },
  ): Promise<Member[]> {
    const statement = lock ? `${PENDING} FOR UPDATE` : PENDING;
    return tx.query<Member & { [column: string]: unknown }>(statement, [
      organizationId,
      id,
      this.clock.now(),
      most,
    ]);
  }

  /** Whether somebody is still to be looked at, now or later. */
  async areLeft(tx: Transaction, { organizationId, id }: WorkedRun): Promise<boolean> {
    return (await tx.query(WAITING, [organizationId, id])).length > 0;
  }

  /** Looks at them later, each time after twice as long; who has failed too often is skipped. */
  async putOff(tx: Transaction, run: WorkedRun, members: readonly Member[]): Promise<void> {
    if (members.length === 0) return;
    const rows = await tx.query<{ state: string }>(PUT_OFF, [
      run.organizationId,
      run.id,
      members.map(({ id }) => id),
      this.clock.now(),
      FIRST_WAIT_MS,
      LONGEST_WAIT_MS,
      MOST_TRIES,
    ]);
    const skipped = rows.filter(({ state }) => state === 'skipped').length;
    putOff.inc({ outcome: 'skipped' }, skipped);
    putOff.inc({ outcome: 'looked_at_again' }, rows.length - skipped);
  }

  /** Of these addresses, by their keys, those that the run goes to already. */
  async takenAddresses(tx: Transaction, run: WorkedRun, keys: readonly string[]): Promise<Set<string>> {
    const rows = await tx.query<{ address_key: string }>(TAKEN, [run.organizationId, run.id, keys]);
    return new Set(rows.map((row) => row.address_key));
  }

  /** Of these contacts those whom the run goes to already, under whatever address and before whatever merge. */
  async reachedContacts(tx: Transaction, run: WorkedRun, ids: readonly string[]): Promise<Set<string>> {
    const since = new Date(run.startedAt.getTime() - CLOCKS_APART_MS);
    const rows = await tx.query<{ survivor: string }>(REACHED, [run.organizationId, run.id, ids, since]);
    return new Set(rows.map((row) => row.survivor));
  }

  /** Writes what members have become. */
  async settle(tx: Transaction, run: WorkedRun, settled: readonly SettledMember[]): Promise<void> {
    await tx.query(SETTLE, [run.organizationId, run.id, JSON.stringify(settled)]);
  }
}
