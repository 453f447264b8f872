import { Injectable } from '@nestjs/common';
import { systemActor } from '@customer-platform/audit';
import { Clock, Database, type WorkerTransaction } from '@customer-platform/database';
import { IdentityLinks } from '../identity-lane/identity-links.js';
import { SendJournal, type SendStep } from '../sends/send-journal.js';
import { Suppressions } from '../../people/suppressions/suppressions.service.js';
import type { ClaimedSend } from './claimed-send.js';
import type { DispatchDecision } from './dispatch-decision.js';

type Settled = Exclude<DispatchDecision, { kind: 'ready' }>;

const SUSPENDED = 'organization_suspended';

const SETTLE = `
  UPDATE sends s SET state = coalesce(d.state, s.state), reason = coalesce(d.reason, CASE WHEN d.state IS NULL THEN s.reason END),
         due_at = d.due_at, release_at = d.release_at, waiting_since = d.waiting_since, claim = NULL, updated_at = $2
    FROM jsonb_to_recordset($1::jsonb) AS d (organization_id uuid, id uuid, claim uuid, state text, reason text,
      due_at timestamptz, release_at timestamptz, waiting_since timestamptz)
   WHERE s.organization_id = d.organization_id AND s.id = d.id AND s.claim = d.claim
     AND s.state IN ('rendering', 'gated')
  RETURNING s.id`;

/** Not FOR SHARE: sharers that keep coming would hold up a reactivation for as long as they come. */
export const STILL_SUSPENDED = `
  SELECT organization_id FROM organizations WHERE organization_id = ANY($1::uuid[]) AND status = 'suspended'
   ORDER BY organization_id FOR NO KEY UPDATE`;

/** Nothing is live of it any more: whatever process had it is gone, and nobody knows how far it came. */
const LOST = `
  UPDATE sends s SET state = 'unknown', reason = 'outcome_unknown', due_at = NULL, claim = NULL, updated_at = $3
    FROM unnest($1::uuid[], $2::uuid[]) AS lost (organization_id, id)
   WHERE s.organization_id = lost.organization_id AND s.id = lost.id AND s.state = 'dispatching'
     AND NOT EXISTS (SELECT 1 FROM in_flight f WHERE f.organization_id = s.organization_id AND f.send_id = s.id
       AND f.lease_until > clock_timestamp())
  RETURNING s.id`;

/** In whichever organizations' suppressions their addresses were looked up. */
const LAND_LOST = `
  DELETE FROM in_flight WHERE send_id = ANY($1::uuid[]) AND lease_until <= clock_timestamp()`;

/** Writes down what does not pass the gate: ends, waits, and what a crash has left behind. */
@Injectable()
export class Settlement {
  constructor(
    private readonly database: Database,
    private readonly journal: SendJournal,
    private readonly suppressions: Suppressions,
    private readonly links: IdentityLinks,
    private readonly clock: Clock,
  ) {}

  /** Ends and waits decided before the gate. */
  async settle(decisions: readonly Settled[]): Promise<void> {
    if (decisions.length === 0) return;
    await this.database.acrossOrganizations(async (tx) => {
      const now = this.clock.now();
      const current = await this.withoutReactivated(tx, decisions, now);
      const rows = await tx.query<{ id: string }>(SETTLE, [JSON.stringify(current.map(toRow)), now]);
      const settled = new Set(rows.map(({ id }) => id));
      const steps = current.filter(({ send }) => settled.has(send.id)).flatMap(stepOf);
      await this.journal.record(tx, steps, now);
    });
  }

  /**
   * What is held for a suspension is looked at by nobody until the reactivation lets it go. That waits for the lock taken
   * here, and so finds what is held here; where it came first nothing is held.
   */
  private async withoutReactivated(
    tx: WorkerTransaction,
    decisions: readonly Settled[],
    now: Date,
  ): Promise<readonly Settled[]> {
    const held = decisions.filter(({ kind }) => kind === 'suspend');
    if (held.length === 0) return decisions;
    const organizations = [...new Set(held.map(({ send }) => send.organizationId))];
    const rows = await tx.query<{ organization_id: string }>(STILL_SUSPENDED, [organizations]);
    const suspended = new Set(rows.map((row) => row.organization_id));
    return decisions.map((decision) =>
      decision.kind === 'suspend' && !suspended.has(decision.send.organizationId)
        ? { kind: 'later', send: decision.send, until: now }
        : decision,
    );
  }

  /** Sends found in flight past their lease: `unknown`, never sent again (messaging.md §5). */
  async giveUp(lost: readonly ClaimedSend[]): Promise<void> {
    if (lost.length === 0) return;
    const places = [lost.map((send) => send.organizationId), lost.map((send) => send.id)];
    await this.database.acrossOrganizations(async (tx) => {
      const now = this.clock.now();
      const rows = await tx.query<{ id: string }>(LOST, [...places, now]);
      await tx.query(LAND_LOST, [lost.map(({ id }) => id)]);
      const given = new Set(rows.map(({ id }) => id));
      const steps = lost
        .filter(({ id }) => given.has(id))
        .map(
          (send) => ({ send, state: 'unknown', reason: 'outcome_unknown', attempt: send.attempts }) as const,
        );
      await this.journal.record(tx, steps, now);
    });
  }

  /** A refusal that blamed the address: nothing goes there any more. Repeatable, and repeated until it has been done. */
  async suppressBounced(send: ClaimedSend): Promise<void> {
    const { channel, address } = send;
    if (address) {
      const reason = channel === 'push' ? 'invalid_token' : 'hard_bounce';
      for (const organizationId of await this.listsOf(send)) {
        const actor = systemActor(organizationId, send.correlationId ?? send.id, 'messaging.gate');
        await this.suppressions.add(actor, { channel, scope: 'address', address, reason, note: null });
      }
    }
    await this.database.inOrganization(send, (tx) =>
      tx.query(
        `UPDATE sends SET due_at = NULL, claim = NULL WHERE organization_id = $1 AND id = $2 AND state IN ('bounced', 'complained')`,
        [send.organizationId, send.id],
      ),
    );
  }

  /** Whose suppressions the address is put into; of identity's mail, the platform's as well (messaging.md §3). */
  private async listsOf({ organizationId, recipient }: ClaimedSend): Promise<string[]> {
    if (!('link' in recipient)) return [organizationId];
    const own = recipient.link.kind === 'invitation' ? [organizationId] : [];
    // What is no longer open has no mail to follow either: the platform's list can do without it.
    const platform = (await this.links.find(organizationId, recipient.link))?.platform_organization_id;
    return [...new Set([...own, ...(platform === undefined ? [] : [platform])])];
  }
}

function toRow(decision: Settled) {
  const { send } = decision;
  const place = { organization_id: send.organizationId, id: send.id, claim: send.claim };
  switch (decision.kind) {
    case 'end':
      return { ...place, state: decision.state, reason: decision.reason, due_at: null, release_at: null };
    case 'hold':
      return {
        ...place,
        state: 'held',
        reason: decision.reason,
        due_at: decision.until,
        release_at: decision.until,
      };
    case 'suspend':
      return { ...place, state: 'held', reason: SUSPENDED, due_at: 'infinity', release_at: null };
    case 'later':
      return {
        ...place,
        state: null,
        reason: null,
        due_at: decision.until,
        release_at: null,
        waiting_since: decision.since ?? null,
      };
  }
}

function stepOf(decision: Settled): SendStep[] {
  const { send } = decision;
  if (decision.kind === 'later') return [];
  const state = decision.kind === 'end' ? decision.state : 'held';
  const reason = decision.kind === 'suspend' ? SUSPENDED : decision.reason;
  return [{ send, state, reason, attempt: send.attempts }];
}
