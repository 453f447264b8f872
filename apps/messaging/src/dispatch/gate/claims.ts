import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { afterLocks, Clock, Database, type WorkerTransaction } from '@customer-platform/database';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { ChannelPlans, type ChannelPlan } from '../../settings/channels/channel-plans.js';
import { ClaimsApart } from '../../background/jobs/claims-apart.js';
import { CAMPAIGN_LANE } from '../../vocabulary/sends/send.js';
import { SendJournal } from '../sends/send-journal.js';
import { CLAIMED_COLUMNS, toClaimedSend, type ClaimedRow, type ClaimedSend } from './claimed-send.js';

/** Sends of one kind in one organization that wait for their turn. */
export interface DueGroup {
  readonly organizationId: string;
  readonly channel: Channel;
  readonly lane: number;
}

/** A group with the most that may be taken of it now. */
export interface GroupShare extends DueGroup {
  readonly take: number;
  /** Undefined: as fast as the transport takes them. */
  readonly maxPerSecond: number | undefined;
}

/** A dispatcher that takes longer than this has died, or is as good as dead: others take its sends over. */
const CLAIM_MS = 30_000;
/** How far a channel's rate may run ahead of the clock. */
const BURST_SECONDS = 1;
/** And how far for campaigns: of what a channel may send, others always find so much that is left for them. */
const CAMPAIGN_BURST_SECONDS = 0.5;

/** Walks from group to group through the index of due sends, without reading the sends of any. */
const DUE_GROUPS = `
  WITH RECURSIVE groups AS (
    (SELECT organization_id, channel, lane, due_at FROM sends WHERE due_at IS NOT NULL
      ORDER BY organization_id, channel, lane, due_at LIMIT 1)
    UNION ALL
    SELECT next.* FROM groups, LATERAL (
      SELECT s.organization_id, s.channel, s.lane, s.due_at FROM sends s
       WHERE s.due_at IS NOT NULL
         AND (s.organization_id, s.channel, s.lane) > (groups.organization_id, groups.channel, groups.lane)
       ORDER BY s.organization_id, s.channel, s.lane, s.due_at LIMIT 1) AS next
  )
  SELECT organization_id, channel, lane FROM groups WHERE due_at <= $1 AND lane = ANY($2::smallint[]) ORDER BY lane`;

const CLAIM = `
  WITH picked AS (
    SELECT due.organization_id, due.id, due.state
      FROM unnest($1::uuid[], $2::text[], $3::smallint[], $4::int[]) AS share (organization_id, channel, lane, take),
      LATERAL (
        SELECT s.organization_id, s.id, s.state FROM sends s
         WHERE s.organization_id = share.organization_id AND s.channel = share.channel AND s.lane = share.lane
           AND s.due_at <= $5
         ORDER BY s.due_at LIMIT share.take FOR UPDATE SKIP LOCKED) AS due
  ), claimed AS (
    UPDATE sends s SET claim = $6, due_at = $7, updated_at = $5,
           state = CASE s.state WHEN 'accepted' THEN 'rendering' WHEN 'held' THEN 'gated' ELSE s.state END
      FROM picked WHERE s.organization_id = picked.organization_id AND s.id = picked.id
    RETURNING ${CLAIMED_COLUMNS}, picked.state AS previous
  )
  SELECT s.*, coalesce(p.data, r.data) AS data, p.event, p.content, p.withholds_contact FROM claimed s
    LEFT JOIN send_payloads p ON p.organization_id = s.organization_id AND p.send_id = s.id
    LEFT JOIN campaign_runs r ON r.organization_id = s.organization_id AND r.id = s.run_id`;

/** A trigger keeps the sends of campaigns from whoever does not say so: dispatchers of the release before. */
const ENTER_LANE = `SELECT set_config('messaging.lane', 'campaign', true)`;

const RATES = `
  SELECT organization_id, channel, used_until FROM channel_rates
   WHERE (organization_id, channel) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
   ORDER BY organization_id, channel FOR UPDATE`;

const USE_RATES = `
  INSERT INTO channel_rates (organization_id, channel, used_until)
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::float8[])
  ON CONFLICT (organization_id, channel) DO UPDATE SET used_until = excluded.used_until`;

/** Which sends are taken up next, and by whom: each by one dispatcher at a time, whatever dies. */
@Injectable()
export class Claims {
  private readonly apart: ClaimsApart<DueGroup>;

  constructor(
    private readonly database: Database,
    private readonly plans: ChannelPlans,
    private readonly journal: SendJournal,
    private readonly clock: Clock,
  ) {
    this.apart = new ClaimsApart('send-claims', clock, ({ organizationId, channel, lane }) =>
      [organizationId, channel, lane].join('/'),
    );
  }

  /** All groups of these lanes with a due send, transactional ones first, each with how its channel sends; undefined: not at all. */
  async dueGroups(lanes: readonly number[]): Promise<{ group: DueGroup; plan: ChannelPlan | undefined }[]> {
    return this.database.acrossOrganizations(
      async (tx) => {
        const rows = await tx.prepared<{ organization_id: string; channel: Channel; lane: number }>(
          DUE_GROUPS,
          [this.clock.now(), lanes],
        );
        const plans = await this.plans.ofAll(tx, [...new Set(rows.map((row) => row.organization_id))]);
        const due = rows.map((row) => ({
          group: { organizationId: row.organization_id, channel: row.channel, lane: row.lane },
          plan: plans.get(row.organization_id)?.channels[row.channel],
        }));
        return due.filter(({ group }) => !this.apart.waits(group));
      },
      { onePlan: true },
    );
  }

  /** Takes up to `take` sends of each group, the longest due first, no faster than their channels may send. */
  take(shares: readonly GroupShare[]): Promise<readonly ClaimedSend[]> {
    return this.apart.take(shares, (some) => this.takeTogether(some));
  }

  private takeTogether(shares: readonly GroupShare[]): Promise<ClaimedSend[]> {
    return this.database.acrossOrganizations(
      async (tx) => {
        const [rates, now] = await afterLocks(this.clock, this.rates(tx, shares));
        const allowed = shares
          .map((share) => ({ ...share, take: Math.min(share.take, rates.allowance(share, now)) }))
          .filter(({ take }) => take > 0);
        if (allowed.length === 0) return [];
        if (allowed.some(({ lane }) => lane === CAMPAIGN_LANE)) await tx.query(ENTER_LANE);
        const rows = await tx.prepared<ClaimedRow>(CLAIM, [
          allowed.map(({ organizationId }) => organizationId),
          allowed.map(({ channel }) => channel),
          allowed.map(({ lane }) => lane),
          allowed.map(({ take }) => take),
          now,
          randomUUID(),
          new Date(now.getTime() + CLAIM_MS),
        ]);
        await rates.use(allowed, rows, now);
        const sends = rows.map(toClaimedSend);
        await this.recordSteps(tx, sends, now);
        return sends;
      },
      { onePlan: true },
    );
  }

  private async recordSteps(tx: WorkerTransaction, sends: readonly ClaimedSend[], now: Date): Promise<void> {
    const steps = sends.flatMap((send) => {
      const state =
        send.previous === 'accepted' ? 'rendering' : send.previous === 'held' ? 'gated' : undefined;
      return state ? [{ send, state, attempt: send.attempts } as const] : [];
    });
    await this.journal.record(tx, steps, now);
  }

  private async rates(tx: WorkerTransaction, shares: readonly GroupShare[]): Promise<ChannelRates> {
    const limited = shares.filter(({ maxPerSecond }) => maxPerSecond !== undefined);
    const rows =
      limited.length === 0
        ? []
        : await tx.query<{ organization_id: string; channel: Channel; used_until: number }>(RATES, [
            limited.map(({ organizationId }) => organizationId),
            limited.map(({ channel }) => channel),
          ]);
    return new ChannelRates(
      tx,
      new Map(rows.map((row) => [`${row.organization_id}/${row.channel}`, row.used_until])),
    );
  }
}

/**
 * The generic cell rate algorithm over `channel_rates`: each send uses 1/rate seconds; a channel may be at most a
 * second ahead. Exact over all processes, for the rows are locked while one counts.
 */
class ChannelRates {
  private readonly promised = new Map<string, number>();

  constructor(
    private readonly tx: WorkerTransaction,
    private readonly usedUntil: ReadonlyMap<string, number>,
  ) {}

  /** How many more of the channel may go now; what is answered counts as promised to the share. */
  allowance(share: GroupShare, now: Date): number {
    if (share.maxPerSecond === undefined) return share.take;
    const channel = `${share.organizationId}/${share.channel}`;
    const ahead = Math.max(0, (this.usedUntil.get(channel) ?? 0) - now.getTime()) / 1_000;
    const burst = share.lane === CAMPAIGN_LANE ? CAMPAIGN_BURST_SECONDS : BURST_SECONDS;
    const free = Math.floor((burst - ahead) * share.maxPerSecond + 1e-6) - (this.promised.get(channel) ?? 0);
    const granted = Math.max(0, Math.min(free, share.take));
    this.promised.set(channel, (this.promised.get(channel) ?? 0) + granted);
    return granted;
  }

  /** Writes down what was really taken. */
  async use(shares: readonly GroupShare[], rows: readonly ClaimedRow[], now: Date): Promise<void> {
    const taken = Map.groupBy(rows, (row) => `${row.organization_id}/${row.channel}`);
    const limited = new Map<string, GroupShare>();
    for (const share of shares) {
      const channel = `${share.organizationId}/${share.channel}`;
      if (share.maxPerSecond !== undefined && taken.has(channel)) limited.set(channel, share);
    }
    if (limited.size === 0) return;
    const channels = [...limited.keys()].sort();
    const until = channels.map((channel) => {
      const begin = Math.max(now.getTime(), this.usedUntil.get(channel) ?? 0);
      const each = 1_000 / (limited.get(channel)?.maxPerSecond ?? 1);
      return begin + each * (taken.get(channel)?.length ?? 0);
    });
    await this.tx.query(USE_RATES, [
      channels.map((channel) => limited.get(channel)?.organizationId),
      channels.map((channel) => limited.get(channel)?.channel),
      until,
    ]);
  }
}
