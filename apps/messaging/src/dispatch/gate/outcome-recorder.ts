import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock, Database, isTransient, ranOut, type WorkerTransaction } from '@customer-platform/database';
import { Batcher, log } from '@customer-platform/http';
import { ChannelFaults, type ChannelFault, type FaultRow } from '../../settings/channels/channel-faults.js';
import { DispatchSignal } from '../sends/dispatch-signal.js';
import { SendJournal, type SendStep } from '../sends/send-journal.js';
import type { SendState } from '../../vocabulary/sends/send-state.js';
import { flyingIn, type InFlightSend } from './gate-passage.js';
import type { HandOff } from '../../providers/transport-config.js';

/** A hand-off that has ended, to be written down. */
interface Outcome {
  readonly flight: InFlightSend;
  readonly handOff: HandOff;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Pauses after the first, second, … try (messaging.md §5); after the last of them the send has failed. */
const RETRY_PAUSES_MS = [30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR] as const;
/** A send that was not begun waits this long, so that what keeps it back is not asked without end. */
const RELEASED_PAUSE_MS = 500;
const MOST_AT_ONCE = 200;
/** Outcomes that come so close together are written together; a suppression may be waiting for the record. */
const LINGER_MS = 12;
/** An outcome that runs out of time, or of the server's memory, is tried so often alone: any might at such a moment. */
const TRIES_ALONE = 5;

const RECORD = `
  UPDATE sends s SET state = o.state, reason = o.reason, due_at = o.due_at, release_at = o.release_at, claim = NULL,
         attempts = s.attempts - o.taken_back, updated_at = $2,
         provider_message_id = coalesce(o.provider_message_id, s.provider_message_id),
         sent_at = CASE WHEN o.state = 'sent' THEN $2 ELSE s.sent_at END
    FROM jsonb_to_recordset($1::jsonb) AS o (organization_id uuid, id uuid, attempt int, state text, reason text,
      due_at timestamptz, release_at timestamptz, taken_back int,
      provider_message_id text)
   WHERE s.organization_id = o.organization_id AND s.id = o.id AND s.attempts = o.attempt
     AND (s.state = 'dispatching' OR (s.state = 'unknown' AND o.state IN ('sent', 'bounced')))
  RETURNING s.id, s.contact_id, s.metadata, s.correlation_id`;

/** Nothing is in flight of them any more; and of channels that work, as they are set now, nothing is wrong any more. */
const LAND = `
  WITH landed AS (
    DELETE FROM in_flight
     WHERE (organization_id, send_id, attempt) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::int[]))
  )
  DELETE FROM channel_faults WHERE (organization_id, channel) IN (
    SELECT w.organization_id, w.channel FROM unnest($4::uuid[], $5::text[], $6::bigint[]) AS w (organization_id, channel, version)
      JOIN channel_settings s ON s.organization_id = w.organization_id AND s.version = w.version)
  RETURNING organization_id, channel, provider, stage, code`;

/** Outcomes by which it shows whether the provider takes the account. */
const TELLING: ReadonlySet<HandOff['outcome']> = new Set(['sent', 'bounced', 'misconfigured']);

interface RecordedRow {
  readonly id: string;
  readonly contact_id: string | null;
  readonly metadata: Record<string, unknown> | null;
  readonly correlation_id: string | null;
}

interface Recorded {
  readonly flight: InFlightSend;
  readonly state: SendState;
  readonly reason: string | null;
  readonly code: number | null;
  readonly dueAt: Date | null;
  readonly releaseAt: Date | null;
  readonly takenBack: 0 | 1;
  /** Said by the provider, in place of ours. */
  readonly providerMessageId: string | null;
}

/**
 * Writes down how hand-offs ended, many in one transaction; one at a time, so that a busy dispatcher writes larger
 * batches rather than more of them. While the database is away what cannot be written is tried again until it can: the
 * message has left. An outcome that is refused is found alone, and keeps none of the others from being written.
 */
@Injectable()
export class OutcomeRecorder {
  private readonly batcher = new Batcher<Outcome>({
    waitMs: LINGER_MS,
    enough: MOST_AT_ONCE,
    run: (batch) => this.write(batch),
    singlyAfter: () => true,
  });

  constructor(
    private readonly database: Database,
    private readonly journal: SendJournal,
    private readonly faults: ChannelFaults,
    private readonly signal: DispatchSignal,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves when the outcome is on record.
   * @throws what the database says of an outcome that it refuses: its send stays in flight, and ends as `unknown`
   */
  async record(outcome: Outcome): Promise<void> {
    await this.batcher.add(outcome);
  }

  private async write(batch: readonly Outcome[]): Promise<void> {
    // eslint-disable-next-line house/no-endless-turns -- what was handed off must be noted, however long the database is away
    for (let wait = 100, tries = 1; ; wait = Math.min(wait * 2, 2_000), tries += 1) {
      try {
        await this.database.acrossOrganizations((tx) => this.writeBatch(tx, batch), { onePlan: true });
        return;
      } catch (error) {
        const again = ranOut(error) ? batch.length === 1 && tries < TRIES_ALONE : isTransient(error);
        const said = { err: error, outcomes: batch.length, again };
        log.error(said, 'Outcomes of hand-offs could not be written');
        if (!again) throw error;
        await pause(wait);
      }
    }
  }

  private async writeBatch(tx: WorkerTransaction, batch: readonly Outcome[]): Promise<void> {
    const now = this.clock.now();
    const recorded = batch.map((outcome) => recordOf(outcome, now));
    const rows = await tx.prepared<RecordedRow>(RECORD, [JSON.stringify(recorded.map(toRow)), now]);
    await this.land(tx, batch, now);
    const written = new Map(rows.map((row) => [row.id, row]));
    const steps = recorded.flatMap((one) => {
      const row = written.get(one.flight.ready.send.id);
      return row ? stepOf(one, row) : [];
    });
    await this.journal.record(tx, steps, now);
    if (recorded.some(({ dueAt }) => dueAt !== null && dueAt <= now))
      tx.afterCommit(() => this.signal.raise());
  }

  private async land(tx: WorkerTransaction, batch: readonly Outcome[], now: Date): Promise<void> {
    const { true: refused = [], false: working = [] } = Object.groupBy(
      lastOfChannels(batch),
      ({ handOff }) => (handOff.outcome === 'misconfigured' ? 'true' : 'false'),
    );
    const landed = batch.flatMap(({ flight }) =>
      flyingIn(flight.ready).map((organizationId) => ({ organizationId, flight })),
    );
    const over = await tx.prepared<FaultRow>(LAND, [
      landed.map(({ organizationId }) => organizationId),
      landed.map(({ flight }) => flight.ready.send.id),
      landed.map(({ flight }) => flight.attempt),
      working.map(({ flight }) => flight.ready.send.organizationId),
      working.map(({ flight }) => flight.ready.send.channel),
      working.map(({ flight }) => flight.ready.plan.version),
    ]);
    await this.faults.tellOver(tx, over, now);
    await this.faults.note(tx, refused.map(faultOf), now);
  }
}

/** What the last outcome of each channel says of its settings; nothing of the platform's own, which no tenant can mend. */
function lastOfChannels(batch: readonly Outcome[]): Outcome[] {
  const last = new Map<string, Outcome>();
  for (const outcome of batch) {
    const { send, plan } = outcome.flight.ready;
    if (!plan.byPlatform && TELLING.has(outcome.handOff.outcome))
      last.set(`${send.organizationId} ${send.channel}`, outcome);
  }
  return [...last.values()];
}

function faultOf({ flight, handOff }: Outcome): ChannelFault {
  const { send, plan } = flight.ready;
  return {
    organizationId: send.organizationId,
    channel: send.channel,
    provider: plan.provider,
    stage: handOff.stage ?? 'delivery',
    code: handOff.code ?? null,
    version: plan.version,
    correlationId: send.correlationId ?? send.id,
  };
}

function recordOf({ flight, handOff }: Outcome, now: Date): Recorded {
  const common = {
    flight,
    code: handOff.code ?? null,
    reason: null,
    dueAt: null,
    releaseAt: null,
    takenBack: 0 as const,
    providerMessageId: handOff.providerMessageId ?? null,
  };
  const at = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);
  switch (handOff.outcome) {
    case 'sent':
      return { ...common, state: 'sent' };
    case 'bounced':
      // Still due: the dispatcher suppresses the address, for certain even if this process dies now.
      return {
        ...common,
        state: 'bounced',
        reason: 'provider_rejected',
        dueAt: handOff.recipientGone ? now : null,
      };
    case 'unknown':
      return { ...common, state: 'unknown', reason: 'outcome_unknown' };
    case 'released':
      return { ...common, state: 'gated', dueAt: at(RELEASED_PAUSE_MS), takenBack: 1 };
    case 'misconfigured':
    case 'deferred': {
      const pause = RETRY_PAUSES_MS[flight.attempt - 1];
      if (pause === undefined) return { ...common, state: 'failed', reason: 'retries_exhausted' };
      const due = at(Math.max(pause, handOff.retryAfterMs ?? 0));
      const reason = handOff.outcome === 'misconfigured' ? 'provider_misconfigured' : null;
      return { ...common, state: 'gated', reason, dueAt: due, releaseAt: due };
    }
  }
}

function toRow({ flight, state, reason, dueAt, releaseAt, takenBack, providerMessageId }: Recorded) {
  const { organizationId, id } = flight.ready.send;
  return {
    organization_id: organizationId,
    id,
    attempt: flight.attempt,
    state,
    reason,
    due_at: dueAt,
    release_at: releaseAt,
    taken_back: takenBack,
    provider_message_id: providerMessageId,
  };
}

/** Of whom it tells the row says: the person may have been erased since the hand-off began. */
function stepOf({ flight, state, reason, code, takenBack }: Recorded, row: RecordedRow): SendStep {
  const { send } = flight.ready;
  return {
    send: { ...send, contactId: row.contact_id, metadata: row.metadata, correlationId: row.correlation_id },
    state,
    reason,
    attempt: flight.attempt - takenBack,
    smtpCode: code,
  };
}
