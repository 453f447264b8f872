import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { contactKey } from '@customer-platform/contact-refs';
import { Clock, Database, ReferenceHolds, type WorkerTransaction } from '@customer-platform/database';
import type { DomainEvent, EventType } from '@customer-platform/events';
import { ClaimsApart } from '../../background/jobs/claims-apart.js';
import { ContactsRepository } from '../../people/contacts/contacts.repository.js';
import type { SigningSecret } from '../signing-secrets.js';
import type { MakerType } from '../../vocabulary/makers/maker.js';
import { subscriptionsTo } from '../../vocabulary/makers/subscriptions.js';
import { keepEndpoints } from './endpoint-locks.js';
import { concernedContacts, withoutErased } from './concerned-contacts.js';
import { DeliverySignal } from './delivery-signal.js';
import { outboundPayload } from './outbound-payload.js';

/** Tries at once of one endpoint, in all processes together. */
export const MOST_IN_FLIGHT = 10;
/** A process that has not recorded its try by then has died: others take it up. Longer than a try lasts. */
const CLAIM_MS = 30_000;
/** Claims are made one transaction after the other: that keeps the count of what is in flight exact. */
const CLAIM_LOCK = 7_301_640_010;

/** A delivery in the hands of one process. */
export interface ClaimedDelivery {
  readonly organization_id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  /** Its name, without version. */
  readonly type: string;
  readonly claim: string;
  readonly payload: string;
  readonly correlation_id: string;
  readonly attempts: number;
  readonly url: string;
  readonly secrets: readonly SigningSecret[];
  readonly maker_type: MakerType | null;
  readonly maker_id: string | null;
}

/** An endpoint with something that is due, and how many more may be in flight to it. */
export interface WaitingEndpoint {
  readonly organization_id: string;
  readonly id: string;
  readonly free: number;
}

interface SubscribedRow {
  organization_id: string;
  id: string;
  enabled: boolean;
}

/** The number that each of the endpoints that wait is given. */
type Share = (waiting: readonly WaitingEndpoint[]) => readonly number[];

/** Why nothing was tried: the endpoint was disabled when the event came. */
const MISSED = 'endpoint_disabled';

const SUBSCRIBED = `
  SELECT organization_id, id, enabled FROM webhook_endpoints
   WHERE organization_id = ANY($1::uuid[]) AND events && $2::text[] AND deleted_at IS NULL
   ORDER BY organization_id, id`;

const ENQUEUE = `
  INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, type, payload, correlation_id, contact_id,
    state, error, due_at, created_at)
  SELECT e.organization_id, e.endpoint_id, e.event_id, e.type, e.payload, e.correlation_id, e.contact_id,
         CASE WHEN e.enabled THEN 'pending' ELSE 'failed' END, CASE WHEN NOT e.enabled THEN '${MISSED}' END,
         CASE WHEN e.enabled THEN $2::timestamptz END, $2
    FROM jsonb_to_recordset($1::jsonb) AS e (organization_id uuid, endpoint_id uuid, event_id uuid, type text,
      payload text, correlation_id uuid, contact_id uuid, enabled boolean)
   ORDER BY e.organization_id, e.endpoint_id, e.event_id
  ON CONFLICT DO NOTHING`;

/** Walks from endpoint to endpoint through the index of what is due, without reading the deliveries of any. */
const WAITING = `
  WITH RECURSIVE endpoints AS (
    (SELECT organization_id, endpoint_id, due_at FROM webhook_deliveries WHERE due_at IS NOT NULL
      ORDER BY organization_id, endpoint_id, due_at LIMIT 1)
    UNION ALL
    SELECT next.* FROM endpoints, LATERAL (
      SELECT d.organization_id, d.endpoint_id, d.due_at FROM webhook_deliveries d
       WHERE d.due_at IS NOT NULL
         AND (d.organization_id, d.endpoint_id) > (endpoints.organization_id, endpoints.endpoint_id)
       ORDER BY d.organization_id, d.endpoint_id, d.due_at LIMIT 1) AS next
  ), room AS (
    SELECT e.organization_id, e.id, endpoints.due_at, ${String(MOST_IN_FLIGHT)} - (
        SELECT count(*) FROM webhook_deliveries f WHERE f.organization_id = e.organization_id
           AND f.endpoint_id = e.id AND f.due_at > $1 AND f.claim IS NOT NULL)::int AS free
      FROM endpoints JOIN webhook_endpoints e
        ON e.organization_id = endpoints.organization_id AND e.id = endpoints.endpoint_id
     WHERE endpoints.due_at <= $1 AND e.enabled AND e.deleted_at IS NULL
  )
  SELECT organization_id, id, free FROM room WHERE free > 0 ORDER BY due_at, organization_id, id`;

/** The oldest of each endpoint, as many as it is given. */
const CLAIM = `
  WITH chosen AS (
    SELECT due.*, e.url, e.secrets, e.maker_type, e.maker_id
      FROM unnest($4::uuid[], $5::uuid[], $6::int[]) AS given (organization_id, id, count)
      JOIN webhook_endpoints e ON e.organization_id = given.organization_id AND e.id = given.id
       AND e.enabled AND e.deleted_at IS NULL, LATERAL (
      SELECT d.organization_id, d.endpoint_id, d.event_id, d.due_at FROM webhook_deliveries d
       WHERE d.organization_id = given.organization_id AND d.endpoint_id = given.id AND d.due_at <= $1
       ORDER BY d.due_at LIMIT given.count) AS due
  )
  UPDATE webhook_deliveries d SET claim = $2, due_at = $3
    FROM chosen c
   WHERE d.organization_id = c.organization_id AND d.endpoint_id = c.endpoint_id AND d.event_id = c.event_id
     AND d.due_at IS NOT NULL
  RETURNING d.organization_id, d.endpoint_id, d.event_id, d.type, d.claim, d.payload, d.correlation_id, d.attempts, c.url,
    c.secrets, c.maker_type, c.maker_id`;

/** What is to be told to whom. The database holds it until it has been, whatever becomes of a process. */
@Injectable()
export class DeliveryQueue {
  private readonly apart: ClaimsApart<WaitingEndpoint>;

  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly holds: ReferenceHolds,
    private readonly clock: Clock,
    private readonly signal: DeliverySignal,
  ) {
    this.apart = new ClaimsApart('webhook-claims', clock, ({ id }) => id);
  }

  /**
   * One delivery for each event and each endpoint that has subscribed to it; events come of one type at a time. What an
   * endpoint misses while it is disabled has failed, and is told when somebody asks for it.
   */
  async enqueue(type: EventType, events: readonly DomainEvent[]): Promise<void> {
    const organizations = [...new Set(events.map(({ organizationid }) => organizationid))];
    await this.database.acrossOrganizations(async (tx) => {
      const subscribed = (organizationIds: readonly string[]): Promise<SubscribedRow[]> =>
        tx.prepared<SubscribedRow>(SUBSCRIBED, [organizationIds, subscriptionsTo(type)]);
      const told = [...new Set((await subscribed(organizations)).map((row) => row.organization_id))];
      if (told.length === 0) return;
      // An endpoint that is being switched off waits, and then finds what was put here.
      await keepEndpoints(tx, told);
      const endpoints = await subscribed(told);
      if (endpoints.length === 0) return;
      const byOrganization = Map.groupBy(endpoints, (endpoint) => endpoint.organization_id);
      const wanted = events.filter(({ organizationid }) => byOrganization.has(organizationid));
      const rows = (await this.withoutErased(tx, wanted)).flatMap((event) => {
        const own = byOrganization.get(event.organizationid) ?? [];
        const payload = outboundPayload(event);
        const [contactId = null, ...others] = concernedContacts(event);
        return own.map((endpoint) => ({
          organization_id: event.organizationid,
          endpoint_id: endpoint.id,
          enabled: endpoint.enabled,
          event_id: event.id,
          type: subscriptionsTo(event.type)[0],
          payload,
          correlation_id: event.correlationid,
          contact_id: others.length === 0 ? contactId : null,
        }));
      });
      await tx.query(ENQUEUE, [JSON.stringify(rows), this.clock.now()]);
      tx.afterCommit(() => this.signal.raise());
    });
  }

  /** An event that comes late tells nothing of a person who has been erased meanwhile. */
  private async withoutErased(
    tx: WorkerTransaction,
    events: readonly DomainEvent[],
  ): Promise<readonly DomainEvent[]> {
    const refs = events.flatMap((event) =>
      concernedContacts(event).map((id) => ({ organizationId: event.organizationid, id })),
    );
    if (refs.length === 0) return events;
    // An erasure waits until what is put here can be seen by it, or is seen here.
    const organizationIds = [...new Set(refs.map(({ organizationId }) => organizationId))];
    await this.holds.share(tx, 'core.contacts', organizationIds);
    const erased = await this.contacts.erased(tx, refs);
    if (erased.size === 0) return events;
    return events.flatMap(
      (event) =>
        withoutErased(event, (id) => erased.has(contactKey({ organizationId: event.organizationid, id }))) ??
        [],
    );
  }

  /**
   * Takes up what is due, and leaves each endpoint its ten at once.
   * @param share how many each of the endpoints that wait is given, the one that waits longest first
   */
  async claim(share: Share): Promise<readonly ClaimedDelivery[]> {
    let given: readonly WaitingEndpoint[] = [];
    const claim = (isOf: (endpoint: WaitingEndpoint) => boolean): Promise<ClaimedDelivery[]> =>
      this.claimOf(share, isOf, (endpoints) => (given = endpoints));
    try {
      const claimed = await claim((endpoint) => !this.apart.waits(endpoint));
      this.apart.passed(given);
      return claimed;
    } catch (error) {
      if (given.length === 0) throw error;
      return this.apart.take(given, (some) => {
        const ids = new Set(some.map(({ id }) => id));
        return claim(({ id }) => ids.has(id));
      });
    }
  }

  /** @param found hears whose deliveries are claimed, before they are */
  private claimOf(
    share: Share,
    isOf: (endpoint: WaitingEndpoint) => boolean,
    found: (given: readonly WaitingEndpoint[]) => void,
  ): Promise<ClaimedDelivery[]> {
    return this.database.acrossOrganizations(async (tx) => {
      found([]);
      await tx.query('SELECT pg_advisory_xact_lock($1)', [CLAIM_LOCK]);
      const now = this.clock.now();
      const until = new Date(now.getTime() + CLAIM_MS);
      const waiting = (await tx.query<WaitingEndpoint>(WAITING, [now])).filter(isOf);
      const counts = share(waiting);
      const given = waiting.filter((_, at) => (counts[at] ?? 0) > 0);
      found(given);
      if (given.length === 0) return [];
      const organizationIds = given.map((endpoint) => endpoint.organization_id);
      const ids = given.map(({ id }) => id);
      const claim = [now, randomUUID(), until];
      return tx.query<ClaimedDelivery>(CLAIM, [
        ...claim,
        organizationIds,
        ids,
        counts.filter((count) => count > 0),
      ]);
    });
  }
}
