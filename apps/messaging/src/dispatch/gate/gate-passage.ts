import { Injectable } from '@nestjs/common';
import {
  afterLocks,
  Clock,
  Database,
  ReferenceHolds,
  type WorkerTransaction,
} from '@customer-platform/database';
import { locksOf } from '../../vocabulary/addresses/address-keys.js';
import { domainOf, mailSender } from '../../vocabulary/senders/sender.js';
import {
  isCanceled,
  cancellationKey,
  cancellationReason,
  resting,
  RESTING_REASON,
} from '../../vocabulary/sends/canceled-sends.js';
import { SendJournal, type SendStep } from '../sends/send-journal.js';
import type { SendState } from '../../vocabulary/sends/send-state.js';
import { contactSubject } from '../../vocabulary/contacts/contact.js';
import { CapCounters } from './cap-counters.js';
import { FLIGHT_SECONDS } from '../../people/gate-lock/gate-writer.js';
import { optedOut, suppressed } from './objections.js';
import type { ReadySend, SuppressionList } from './dispatch-decision.js';
import { Lease } from '../transports/transport.js';

/** A send that is in flight: it must be handed over within the lease, or not at all. */
export interface InFlightSend {
  readonly ready: ReadySend;
  readonly attempt: number;
  readonly lease: Lease;
}

/** How long this process may hand over: less, so that clocks and pauses have room. */
const HAND_OFF_MS = 8_000;
/** After this a send in dispatch is taken for lost with its process. */
const GIVE_UP_MS = (FLIGHT_SECONDS + 5) * 1_000;

/** Of a verdict: nothing stands against the hand-off. */
const PASSED = '(NOT suppressed AND NOT opted_out AND NOT called_off AND NOT resting)';

/** Each in turn, in the order given: sorted, so that nobody who takes several can wait in a circle. */
const SHARE_LOCKS = 'SELECT pg_advisory_xact_lock_shared(lock) FROM unnest($1::bigint[]) AS lock';

/**
 * A later statement than the locks': its snapshot holds every suppression whose writer had the locks before. It also
 * asks whether the claim still holds: a send that was called off or taken over meanwhile is left alone.
 */
const PASS = `
  WITH candidate AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS c (
      organization_id uuid, id uuid, claim uuid,
      channel text, category text, topic text,
      keys text[], subjects text[], beside uuid, beside_keys text[], in_flight_as text[],
      contact_id uuid, address text, address_key text, subject text, locale text,
      provider text, provider_message_id text, by_platform boolean, sender_domain text, cap_counted boolean)
  ), mine AS (
    SELECT c.*, s.state AS before, s.attempts, s.source_id, s.run_id, s.created_at
      FROM candidate c
      JOIN sends s ON s.organization_id = c.organization_id AND s.id = c.id
     WHERE s.claim = c.claim AND s.state IN ('rendering', 'gated')
       FOR UPDATE OF s
  ), verdict AS (
    SELECT mine.*,
      ${suppressed('mine')}
        OR mine.beside IS NOT NULL AND EXISTS (
          SELECT 1 FROM suppressions x
           WHERE x.organization_id = mine.beside AND x.channel = mine.channel AND x.key = ANY(mine.beside_keys)
        ) AS suppressed,
      ${optedOut('mine')} AS opted_out,
      ${isCanceled('mine')} AS called_off,
      ${resting('mine')} AS resting
      FROM mine
  ), flight AS (
    INSERT INTO in_flight (organization_id, send_id, attempt, keys, lease_until)
    SELECT organization_id, id, attempts + 1, keys || subjects || in_flight_as,
           clock_timestamp() + interval '${FLIGHT_SECONDS} s'
      FROM verdict WHERE ${PASSED}
    UNION ALL
    SELECT beside, id, attempts + 1, beside_keys, clock_timestamp() + interval '${FLIGHT_SECONDS} s'
      FROM verdict WHERE beside IS NOT NULL AND ${PASSED}
    ON CONFLICT (organization_id, send_id) DO UPDATE
      SET attempt = excluded.attempt, keys = excluded.keys, lease_until = excluded.lease_until
  ), moved AS (
    UPDATE sends s SET
      state = CASE
        WHEN v.called_off THEN 'canceled'
        WHEN v.resting THEN 'held'
        WHEN v.opted_out THEN 'opted_out'
        WHEN v.suppressed THEN 'suppressed'
        ELSE 'dispatching'
      END,
      reason = CASE
        WHEN v.called_off AND v.run_id IS NULL THEN 'rule_disabled'
        WHEN v.called_off THEN 'campaign_canceled'
        WHEN v.resting THEN '${RESTING_REASON}'
        WHEN v.opted_out THEN 'preference'
        WHEN v.suppressed THEN 'recipient_suppressed'
      END,
      due_at = CASE
        WHEN ${PASSED} THEN $2::timestamptz
        WHEN v.resting AND NOT v.called_off THEN 'infinity'
      END,
      reached = s.reached | send_state_bit('gated'),
      attempts = CASE WHEN ${PASSED} THEN s.attempts + 1 ELSE s.attempts END,
      claim = CASE WHEN v.resting THEN NULL ELSE s.claim END,
      release_at = NULL,
      waiting_since = NULL,
      updated_at = $3,
      contact_id = coalesce(v.contact_id, s.contact_id),
      address = v.address,
      address_key = v.address_key,
      subject = v.subject,
      locale = v.locale,
      provider = v.provider,
      provider_message_id = v.provider_message_id,
      by_platform = v.by_platform,
      sender_domain = v.sender_domain,
      cap_counted = s.cap_counted OR (v.cap_counted AND ${PASSED})
      FROM verdict v
     WHERE s.organization_id = v.organization_id AND s.id = v.id
  )
  SELECT id, before, attempts, suppressed, opted_out, called_off, resting, ${PASSED} AS passed FROM verdict`;

const CAP = `
  UPDATE sends s SET state = 'capped', reason = 'cap', due_at = NULL, claim = NULL, updated_at = $4
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS c (organization_id, id, claim)
   WHERE s.organization_id = c.organization_id AND s.id = c.id AND s.claim = c.claim
  RETURNING s.id`;

interface Verdict {
  id: string;
  before: SendState;
  attempts: number;
  suppressed: boolean;
  opted_out: boolean;
  called_off: boolean;
  resting: boolean;
  passed: boolean;
}

/**
 * The gate itself (messaging.md §1, checks 5 and 6), one short transaction: shared locks on the keys → caps → in a
 * later statement an in-flight row where nothing stands against it → commit. Only what it returns may be handed over.
 */
@Injectable()
export class GatePassage {
  constructor(
    private readonly database: Database,
    private readonly journal: SendJournal,
    private readonly holds: ReferenceHolds,
    private readonly clock: Clock,
  ) {}

  async pass(prepared: readonly ReadySend[]): Promise<InFlightSend[]> {
    if (prepared.length === 0) return [];
    return this.database.acrossOrganizations(
      async (tx) => {
        const ready = await this.withoutHeld(tx, prepared);
        const locks = tx.prepared(SHARE_LOCKS, [locksOf(ready.flatMap(keysOf))]);
        // Whose day it is, and which counters, is told by the time after writers were waited for.
        const [, now] = await afterLocks(this.clock, locks);
        const caps = await CapCounters.lock(tx, ready, now);
        const { true: within = [], false: over = [] } = Object.groupBy(ready, (one) =>
          caps.take(one) ? 'true' : 'false',
        );
        await this.cap(tx, over, now);
        const startedAt = performance.now();
        const verdicts = await this.judge(tx, within, now);
        const lease = Lease.from(startedAt, HAND_OFF_MS);
        const steps: SendStep[] = [];
        const passed: InFlightSend[] = [];
        for (const one of within) {
          const verdict = verdicts.get(one.send.id);
          if (verdict) steps.push(...stepsOf(one, verdict));
          if (verdict?.passed) {
            passed.push({ ready: one, attempt: verdict.attempts + 1, lease });
          } else caps.release(one);
        }
        await caps.save();
        await this.journal.record(tx, steps, now);
        return passed;
      },
      { onePlan: true },
    );
  }

  /**
   * Leaves out what would point to a contact only now, when core is about to purge that contact. It is looked at again
   * once its claim has run out, and by then the contact is gone or there again.
   */
  private async withoutHeld(tx: WorkerTransaction, ready: readonly ReadySend[]): Promise<ReadySend[]> {
    const pointing = ready.filter(
      ({ send, contactId }) => contactId !== null && contactId !== send.contactId,
    );
    const held = new Set<ReadySend>();
    for (const [organizationId, group] of Map.groupBy(pointing, ({ send }) => send.organizationId)) {
      await tx.useOrganization(organizationId);
      const contactIds = group.flatMap(({ contactId }) => contactId ?? []);
      const ids = await this.holds.held(tx, 'core.contacts', contactIds);
      for (const one of group) if (one.contactId !== null && ids.has(one.contactId)) held.add(one);
    }
    return ready.filter((one) => !held.has(one));
  }

  private async judge(
    tx: WorkerTransaction,
    ready: readonly ReadySend[],
    now: Date,
  ): Promise<Map<string, Verdict>> {
    if (ready.length === 0) return new Map();
    const rows = await tx.prepared<Verdict>(PASS, [
      JSON.stringify(ready.map(toCandidate)),
      new Date(now.getTime() + GIVE_UP_MS),
      now,
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  private async cap(tx: WorkerTransaction, over: readonly ReadySend[], now: Date): Promise<void> {
    if (over.length === 0) return;
    const rows = await tx.query<{ id: string }>(CAP, [
      over.map(({ send }) => send.organizationId),
      over.map(({ send }) => send.id),
      over.map(({ send }) => send.claim),
      now,
    ]);
    const capped = new Set(rows.map(({ id }) => id));
    const steps = over
      .filter(({ send }) => capped.has(send.id))
      .map(({ send }) => ({ send, state: 'capped' as const, reason: 'cap', attempt: send.attempts }));
    await this.journal.record(tx, steps, now);
  }
}

function stepsOf({ send, contactId }: ReadySend, verdict: Verdict): SendStep[] {
  const known = { ...send, contactId: contactId ?? send.contactId };
  const { attempts } = verdict;
  const gated: SendStep[] =
    verdict.before === 'gated' ? [] : [{ send: known, state: 'gated', attempt: attempts }];
  if (verdict.called_off)
    return [
      ...gated,
      { send: known, state: 'canceled', reason: cancellationReason(send), attempt: attempts },
    ];
  if (verdict.resting)
    return [...gated, { send: known, state: 'held', reason: RESTING_REASON, attempt: attempts }];
  if (verdict.opted_out)
    return [...gated, { send: known, state: 'opted_out', reason: 'preference', attempt: attempts }];
  if (verdict.suppressed) {
    return [
      ...gated,
      { send: known, state: 'suppressed', reason: 'recipient_suppressed', attempt: attempts },
    ];
  }
  return [...gated, { send: known, state: 'dispatching', attempt: attempts + 1 }];
}

/** What is locked: everything that a suppression, an opt-out or an end against this send could stand under. */
function keysOf(ready: ReadySend): string[] {
  const { send, contactId } = ready;
  return [
    ...listsOf(ready).flatMap(({ keys }) => keys),
    ...(contactId === null ? [] : [contactSubject({ id: contactId })]),
    ...inFlightAs(send),
  ];
}

function listsOf({ lists, send, keys }: ReadySend): readonly SuppressionList[] {
  return lists ?? [{ organizationId: send.organizationId, keys: keys.blocking }];
}

/** Whose writers of suppressions wait for this send while it is in flight. */
export function flyingIn(ready: ReadySend): string[] {
  return [...new Set([ready.send.organizationId, ...listsOf(ready).map((list) => list.organizationId)])];
}

function inFlightAs({ sourceId }: ReadySend['send']): string[] {
  return sourceId === null ? [] : [cancellationKey(sourceId)];
}

function toCandidate(ready: ReadySend) {
  const own = listsOf(ready).find(({ organizationId: id }) => id === ready.send.organizationId);
  const beside = listsOf(ready).find(({ organizationId: id }) => id !== ready.send.organizationId);
  const { send, keys, contactId, plan, message, subject, locale, messageId } = ready;
  const sender = mailSender(send, { channels: { [plan.channel]: plan } });
  return {
    organization_id: send.organizationId,
    id: send.id,
    claim: send.claim,
    channel: send.channel,
    category: send.category,
    topic: send.topic,
    keys: own?.keys ?? [],
    beside: beside?.organizationId ?? null,
    beside_keys: beside?.keys ?? [],
    subjects: [...keys.own, ...(contactId === null ? [] : [contactSubject({ id: contactId })])],
    in_flight_as: inFlightAs(send),
    contact_id: contactId,
    address: message.to,
    address_key: keys.current,
    subject,
    locale,
    provider: plan.provider,
    provider_message_id: messageId,
    by_platform: plan.byPlatform,
    sender_domain: sender ? domainOf(sender) : null,
    cap_counted: send.category === 'marketing' && ready.caps.length > 0 && contactId !== null,
  };
}
