import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { ClaimsApart } from '../../background/jobs/claims-apart.js';
import { IDENTITY_LANE } from '../../vocabulary/sends/send.js';
import { SendJournal } from '../sends/send-journal.js';
import { CLAIMED_COLUMNS, toClaimedSend, type ClaimedRow, type ClaimedSend } from '../gate/claimed-send.js';
import type { Turn } from '../../background/organizations/tenant-turns.js';

/** A dispatcher that takes longer than this has died, or is as good as dead: others take its sends over. */
const CLAIM_MS = 30_000;

/** Walks from organization to organization through the lane's own index, however many sends any of them has. */
const WAITING = `
  WITH RECURSIVE waiting AS (
    (SELECT organization_id, due_at FROM sends WHERE lane = ${IDENTITY_LANE} AND due_at IS NOT NULL
      ORDER BY organization_id, due_at LIMIT 1)
    UNION ALL
    SELECT next.* FROM waiting, LATERAL (
      SELECT s.organization_id, s.due_at FROM sends s
       WHERE s.lane = ${IDENTITY_LANE} AND s.due_at IS NOT NULL AND s.organization_id > waiting.organization_id
       ORDER BY s.organization_id, s.due_at LIMIT 1) AS next
  )
  SELECT organization_id FROM waiting WHERE due_at <= $1`;

/** A trigger keeps the sends of this lane from whoever does not say so: dispatchers of the release before. */
const ENTER_LANE = `SELECT set_config('messaging.lane', 'identity', true)`;

const CLAIM = `
  WITH picked AS (
    SELECT due.* FROM unnest($1::uuid[], $2::int[]) AS share (organization_id, take), LATERAL (
      SELECT s.organization_id, s.id, s.state FROM sends s
       WHERE s.organization_id = share.organization_id AND s.lane = ${IDENTITY_LANE} AND s.due_at IS NOT NULL
         AND s.due_at <= $3
       ORDER BY s.due_at LIMIT share.take FOR UPDATE SKIP LOCKED) AS due
  ), claimed AS (
    UPDATE sends s SET claim = $4, due_at = $5, updated_at = $3,
           state = CASE s.state WHEN 'accepted' THEN 'rendering' WHEN 'held' THEN 'gated' ELSE s.state END
      FROM picked WHERE s.organization_id = picked.organization_id AND s.id = picked.id
    RETURNING ${CLAIMED_COLUMNS}, picked.state AS previous
  )
  SELECT *, NULL::jsonb AS data, NULL::jsonb AS event, NULL::jsonb AS content,
    NULL::boolean AS withholds_contact FROM claimed`;

/** An organization whose mail is due. */
interface WaitingOrganization {
  readonly organizationId: string;
}

/** Which of identity's mails are taken up next, and by whom: each by one dispatcher at a time, whatever dies. */
@Injectable()
export class IdentityClaims {
  private readonly apart: ClaimsApart<Pick<Turn<WaitingOrganization>, 'of'>>;

  constructor(
    private readonly database: Database,
    private readonly journal: SendJournal,
    private readonly clock: Clock,
  ) {
    this.apart = new ClaimsApart('identity-mail-claims', clock, ({ of }) => of.organizationId);
  }

  /** The organizations whose mail is due. */
  waiting(): Promise<WaitingOrganization[]> {
    return this.database.acrossOrganizations(async (tx) => {
      const rows = await tx.prepared<{ organization_id: string }>(WAITING, [this.clock.now()]);
      return rows
        .map(({ organization_id: organizationId }) => ({ organizationId }))
        .filter((of) => !this.apart.waits({ of }));
    });
  }

  /** Takes up to as many of each organization's as it has places, the longest due first. */
  take(turns: readonly Turn<WaitingOrganization>[]): Promise<readonly ClaimedSend[]> {
    return this.apart.take(turns, (some) => this.takeTogether(some));
  }

  private takeTogether(turns: readonly Turn<WaitingOrganization>[]): Promise<ClaimedSend[]> {
    return this.database.acrossOrganizations(
      async (tx) => {
        const now = this.clock.now();
        const until = new Date(now.getTime() + CLAIM_MS);
        await tx.query(ENTER_LANE);
        const ids = turns.map(({ of }) => of.organizationId);
        const most = turns.map(({ places }) => places);
        const rows = await tx.prepared<ClaimedRow>(CLAIM, [ids, most, now, randomUUID(), until]);
        const sends = rows.map(toClaimedSend);
        const steps = sends.flatMap((send) => {
          const state = { accepted: 'rendering', held: 'gated' }[send.previous as string];
          return state === undefined
            ? []
            : [{ send, state: state as 'rendering' | 'gated', attempt: send.attempts }];
        });
        await this.journal.record(tx, steps, now);
        return sends;
      },
      { onePlan: true },
    );
  }
}
