import { Injectable } from '@nestjs/common';
import type { ReferenceSource, Transaction } from '@customer-platform/database';
import { DispatchSignal, type DispatchLane } from './dispatch-signal.js';
import { laneOf, type NewSend, type SendFacts } from '../../vocabulary/sends/send.js';
import { SendJournal, type SendStep } from './send-journal.js';
import type { SendState } from '../../vocabulary/sends/send-state.js';

/** What core is told before it purges a contact. */
export const SENDS_TO_CONTACTS: ReferenceSource = {
  to: 'core.contacts',
  resource: 'sends',
  count: 'SELECT count(*)::int AS count FROM sends WHERE organization_id = $1 AND contact_id = $2',
};

const COLUMNS = `organization_id, id, channel, state, reason, category, topic, contact_id, recipient, address,
  address_key, sender, sender_domain, template_id, template_version, locale, source, source_id, run_id, event_id, metadata, correlation_id,
  lane, due_at, release_at, expires_at, created_at, updated_at`;

/** The sends, what their dispatch needs and their first step, in one round trip. */
const ADD = `
  WITH added AS (
    INSERT INTO sends (${COLUMNS})
    SELECT ${COLUMNS} FROM jsonb_populate_recordset(NULL::sends, $1::jsonb)
    ON CONFLICT (organization_id, source_id, event_id) WHERE event_id IS NOT NULL DO NOTHING
    RETURNING organization_id, id, state, reason, created_at
  ), payloads AS (
    INSERT INTO send_payloads (organization_id, send_id, data, event, content, withholds_contact)
    SELECT p.organization_id, p.send_id, p.data, p.event, p.content, p.withholds_contact
      FROM jsonb_populate_recordset(NULL::send_payloads, $2::jsonb) p
      JOIN added ON added.organization_id = p.organization_id AND added.id = p.send_id
  ), steps AS (
    INSERT INTO send_history (organization_id, send_id, state, reason, attempt, occurred_at)
    SELECT organization_id, id, state, reason, 0, created_at FROM added
  )
  SELECT id FROM added`;

/** Of a send that was called off, what its step tells. */
const CANCELED = `id, channel, category, topic, contact_id, metadata, correlation_id, event_id, attempts,
    CASE WHEN source = 'campaign' THEN source_id END AS campaign_id`;

/** Ends what waits: not what a dispatcher holds in its hands at this moment, which it will notice by itself. */
const cancel = (which: string, from = ''): string => `
  UPDATE sends SET state = 'canceled', reason = $3, due_at = NULL, release_at = NULL, claim = NULL, updated_at = $4 ${from}
   WHERE organization_id = $1 AND ${which} AND due_at IS NOT NULL AND state NOT IN ('dispatching', 'bounced', 'complained')
  RETURNING ${CANCELED}`;

/**
 * So many at a time, from one id on: not what another transaction has in its hands. The order by a column that is given
 * leaves the planner no index but the one of what is unfinished of a source. By the primary key, which it takes where
 * most rows are of the source, a piece would read all that the pieces before it have done (measured: 1.5 s a piece
 * after a tenth of a million).
 */
const CANCEL_SOME_OF_SOURCE = `
  WITH piece AS (
    SELECT ctid AS place FROM sends
     WHERE organization_id = $1 AND (source_id, id) > ($2::uuid, $7::uuid) AND source_id <= $2 AND due_at IS NOT NULL
       AND state NOT IN ('dispatching', 'bounced', 'complained') AND ($5::timestamptz IS NULL OR created_at <= $5)
     ORDER BY source_id, id LIMIT $6 FOR UPDATE SKIP LOCKED
  )
  ${cancel('ctid = piece.place', 'FROM piece')}`;
const CANCEL_OF_LINK = cancel(`recipient ? 'link' AND recipient -> 'link' ->> 'id' = $2`);

/**
 * What is unfinished may not know its contact yet, only by which id it was asked for, or have another one than was asked
 * for (the survivor of a merge, which may have been undone since); what went to an address of the
 * person may never have known whose it was. Identity's own mail that has not left yet is the platform's, and goes on.
 * Each is sought by an index of its own: in one condition they are not, for under row level security none is used for a
 * condition that looks into a JSON. They are given to statements as a list, and not joined (ADR 58).
 */
const OF_PERSON = `
  SELECT id FROM sends WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])
  UNION ALL
  SELECT id FROM sends
   WHERE organization_id = $1 AND contact_id IS NULL AND address_key = ANY($6::text[])
     AND (due_at IS NULL OR NOT recipient ? 'link')
  UNION ALL
  SELECT id FROM sends
   WHERE organization_id = $1 AND due_at IS NOT NULL
     AND (contact_id IS NULL AND recipient ? 'external_id' OR recipient ->> 'contact_id' IS DISTINCT FROM contact_id::text
       AND recipient ? 'contact_id')
     AND (recipient ->> 'contact_id' = ANY(($2::uuid[])::text[]) OR recipient ->> 'external_id' = ANY($5::text[]))`;

const CANCEL_OF_PERSON = cancel(`id = ANY(ARRAY(${OF_PERSON}))`);

/** In a process that died, or as good as: its lease has run out. */
const LOST_OF_PERSON = `
  UPDATE sends s SET state = 'unknown', reason = $3, due_at = NULL, claim = NULL, updated_at = $4
   WHERE organization_id = $1 AND state = 'dispatching' AND id = ANY(ARRAY(${OF_PERSON}))
     AND NOT EXISTS (SELECT 1 FROM in_flight f WHERE f.organization_id = s.organization_id AND f.send_id = s.id
       AND f.lease_until > clock_timestamp())
  RETURNING ${CANCELED}`;

const ADDRESS_KEYS = `
  SELECT DISTINCT address_key FROM sends
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND address_key IS NOT NULL`;

/** What is left says that something was sent, when, how and what came of it; not to whom, nor what. */
const ANONYMIZE = `
  UPDATE sends SET contact_id = NULL, recipient = '{}', address = NULL, subject = NULL, metadata = NULL,
    correlation_id = NULL, updated_at = $4
   WHERE organization_id = $1 AND id = ANY($3::uuid[] || ARRAY(${OF_PERSON}))
  RETURNING id, address_key`;

const DROP_PAYLOADS = 'DELETE FROM send_payloads WHERE organization_id = $1 AND send_id = ANY($2::uuid[])';

/** Of processes that died; they tell under whose keys they were. */
const DROP_LOST_FLIGHTS = `
  DELETE FROM in_flight WHERE organization_id = $1 AND send_id = ANY($2::uuid[]) AND lease_until <= clock_timestamp()`;

/** By what sends to a person are found. */
export interface Person {
  readonly contactIds: readonly string[];
  readonly externalIds: readonly string[];
  /** Of every address that is known to be the person's, or to have been. */
  readonly addressKeys: readonly string[];
}

/** Which of a source's unfinished sends. */
interface SomeOfSource {
  readonly sourceId: string;
  readonly before: Date | null;
  /** Null from the first one on. */
  readonly after: string | null;
  readonly most: number;
}

/** Whose dispatcher takes up what comes from there. */
const DISPATCHED_BY: Readonly<Record<NewSend['source'], DispatchLane>> = {
  api: 'general',
  routing: 'general',
  campaign: 'campaign',
  identity: 'identity',
};

/** Before every id. */
const NIL = '00000000-0000-0000-0000-000000000000';

interface CanceledRow {
  id: string;
  channel: SendFacts['channel'];
  category: SendFacts['category'];
  topic: string | null;
  contact_id: string | null;
  metadata: Record<string, unknown> | null;
  correlation_id: string | null;
  event_id: string | null;
  campaign_id: string | null;
  attempts: number;
}

/** How sends come into being, and how those that wait are called off. */
@Injectable()
export class SendsRepository {
  constructor(
    private readonly journal: SendJournal,
    private readonly signal: DispatchSignal,
  ) {}

  /**
   * Stores sends with their first step. Of two for the same rule and event the first stands.
   * @returns those that were stored
   */
  async add(tx: Transaction, sends: readonly NewSend[], now: Date): Promise<NewSend[]> {
    if (sends.length === 0) return [];
    const rows = await tx.prepared<{ id: string }>(ADD, [
      JSON.stringify(sends.map((send) => toRow(send, now))),
      JSON.stringify(sends.filter(hasPayload).map(toPayloadRow)),
    ]);
    const stored = new Set(rows.map(({ id }) => id));
    const added = sends.filter(({ id }) => stored.has(id));
    const steps = added.map((send) => ({ send, state: send.state, reason: send.reason, attempt: 0 }));
    await this.journal.tell(tx, steps, now);
    const lanes = new Set(added.filter(isOpen).map(({ source }) => DISPATCHED_BY[source]));
    for (const lane of lanes) tx.afterCommit(() => this.signal.raise(lane));
    return added;
  }

  /**
   * Calls off some unfinished sends of a rule, of those that there were at `before`, from the one after `after` on.
   * @returns their ids, in order
   */
  async cancelSomeOfSource(
    tx: Transaction,
    { sourceId, before, after, most }: SomeOfSource,
    reason: string,
    now: Date,
  ): Promise<string[]> {
    const given = [sourceId, reason, now, before, most, after ?? NIL] as const;
    return (await this.cancel(tx, CANCEL_SOME_OF_SOURCE, [...given])).sort();
  }

  /** Calls off every unfinished send whose link leads nowhere any more. */
  async cancelOfLink(tx: Transaction, linkId: string, reason: string, now: Date): Promise<void> {
    await this.cancel(tx, CANCEL_OF_LINK, [linkId, reason, now]);
  }

  /** The keys of the addresses that sends to these contacts went to. */
  async addressKeys(tx: Transaction, contactIds: readonly string[]): Promise<string[]> {
    const rows = await tx.query<{ address_key: string }>(ADDRESS_KEYS, [tx.organizationId, contactIds]);
    return rows.map((row) => row.address_key);
  }

  /** Calls off every unfinished send to the person; what is being handed over at this moment is not among it. */
  async cancelOfPerson(tx: Transaction, person: Person, now: Date): Promise<string[]> {
    const { contactIds, externalIds, addressKeys } = person;
    return this.cancel(tx, CANCEL_OF_PERSON, [contactIds, 'erased', now, externalIds, addressKeys]);
  }

  /**
   * Calls off every unfinished send to the person and takes the person out of all others. What was handed over by a
   * process that has not said how it ended is `unknown` from now on.
   * @returns how many there were
   */
  async erase(tx: Transaction, person: Person, now: Date): Promise<number> {
    const { contactIds, externalIds, addressKeys } = person;
    const canceled = await this.cancelOfPerson(tx, person, now);
    const ids = [...canceled, ...(await this.giveUp(tx, person, now))];
    const rows = await tx.query<{ id: string }>(ANONYMIZE, [
      tx.organizationId,
      contactIds,
      ids,
      now,
      externalIds,
      addressKeys,
    ]);
    const erased = rows.map(({ id }) => id);
    await tx.query(DROP_PAYLOADS, [tx.organizationId, erased]);
    await tx.query(DROP_LOST_FLIGHTS, [tx.organizationId, erased]);
    return erased.length;
  }

  private async giveUp(tx: Transaction, person: Person, now: Date): Promise<string[]> {
    const { contactIds, externalIds, addressKeys } = person;
    const rows = await tx.query<CanceledRow>(LOST_OF_PERSON, [
      tx.organizationId,
      contactIds,
      'outcome_unknown',
      now,
      externalIds,
      addressKeys,
    ]);
    await this.journal.record(
      tx,
      rows.map((row) => stepOf(tx.organizationId, row, 'unknown', 'outcome_unknown')),
      now,
    );
    return rows.map(({ id }) => id);
  }

  private async cancel(
    tx: Transaction,
    statement: string,
    [of, reason, now, ...more]: [unknown, string, Date, ...unknown[]],
  ): Promise<string[]> {
    const rows = await tx.query<CanceledRow>(statement, [tx.organizationId, of, reason, now, ...more]);
    const steps = rows.map((row) => stepOf(tx.organizationId, row, 'canceled', reason));
    await this.journal.record(tx, steps, now);
    return rows.map(({ id }) => id);
  }
}

function stepOf(organizationId: string, row: CanceledRow, state: SendState, reason: string): SendStep {
  return {
    send: {
      organizationId,
      id: row.id,
      contactId: row.contact_id,
      channel: row.channel,
      category: row.category,
      topic: row.topic,
      metadata: row.metadata,
      correlationId: row.correlation_id,
      eventId: row.event_id,
      campaignId: row.campaign_id,
    },
    state,
    reason,
    attempt: row.attempts,
  };
}

function isOpen({ dueAt }: NewSend): boolean {
  return dueAt !== null;
}

/** Identity's mail is made of nothing that is stored, a campaign's of what its run holds for all. */
function hasPayload(send: NewSend): boolean {
  return isOpen(send) && send.source !== 'identity' && send.source !== 'campaign';
}

function toRow(send: NewSend, now: Date) {
  return {
    organization_id: send.organizationId,
    id: send.id,
    channel: send.channel,
    state: send.state,
    reason: send.reason,
    category: send.category,
    topic: send.topic,
    contact_id: send.contactId,
    recipient: send.recipient,
    address: send.address,
    address_key: send.addressKey,
    sender: send.sender,
    sender_domain: send.senderDomain ?? null,
    template_id: send.templateId,
    template_version: send.templateVersion,
    locale: send.locale,
    source: send.source,
    source_id: send.sourceId,
    run_id: send.runId,
    event_id: send.eventId,
    metadata: send.metadata,
    correlation_id: send.correlationId,
    lane: laneOf(send),
    due_at: send.dueAt,
    release_at: send.dueAt && send.dueAt > now ? send.dueAt : null,
    expires_at: send.expiresAt,
    created_at: now,
    updated_at: now,
  };
}

function toPayloadRow({ organizationId, id, data, event, content, withholdsContact = false }: NewSend) {
  return {
    organization_id: organizationId,
    send_id: id,
    data,
    event,
    content,
    withholds_contact: withholdsContact,
  };
}
