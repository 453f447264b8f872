import { randomUUID } from 'node:crypto';
import { connectEventBus } from '@customer-platform/event-bus';
import type { EventData } from '@customer-platform/events';
import {
  type Caller,
  InternalPeer,
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  anOrganization,
  eventually,
  expectStatus,
  startTestApp,
  testDatabase,
} from '@customer-platform/testing';
import { wrongAnswers, wrongFigures } from './ledger/figures.fixture.js';
import type { BalanceDto, TransactionDto } from './ledger/transaction.dto.js';
import { LoyaltyModule } from './loyalty.module.js';
import { migrations } from './migrations/index.js';
import type { RuleDto } from './rules/rule.dto.js';

/** A contact as core's internal look-up answers it. */
export interface LookedUpContact {
  id: string;
  state: 'active' | 'merged' | 'deleted' | 'erased';
  merged_into: string | null;
  version: number;
}

/**
 * The module as its own process would run it, on a database of its own, beside a core that knows `contacts`. At the end all
 * figures that people see must agree, but for rows that a spec has `planted` and that are no ledger.
 */
export async function startLoyalty({ planted = false } = {}): Promise<{
  app: TestApp;
  database: TestDatabase;
  core: InternalPeer;
  contacts: LookedUpContact[];
  close(): Promise<void>;
}> {
  const database = await testDatabase('loyalty', migrations);
  const contacts: LookedUpContact[] = [];
  const core = await InternalPeer.start({
    'POST /internal/contacts/lookup': (body) => {
      const { ids } = body as { ids: string[] };
      return { data: contacts.filter(({ id }) => ids.includes(id)) };
    },
  });
  const app = await startTestApp({
    module: 'loyalty',
    root: LoyaltyModule,
    database,
    connect: connectEventBus,
    env: { CORE_INTERNAL_URL: core.url },
  });
  return {
    app,
    database,
    core,
    contacts,
    close: async () => {
      if (!planted)
        await eventually(async () => {
          expect(await wrongFigures(database)).toEqual([]);
          expect(await wrongAnswers(app, database)).toEqual([]);
        });
      await app.close();
      await core.close();
      await database.drop();
    },
  };
}

/** The data of an event of a contact's life, in which only its id, state and version matter here. */
export function aContactChange(
  id: string,
  version: number,
  state: 'active' | 'deleted' = 'active',
): EventData<'core.contact.updated.v1'> {
  return {
    contact_id: id,
    version,
    changed_fields: [],
    contact: {
      id,
      external_id: null,
      email: null,
      phone: null,
      first_name: null,
      last_name: null,
      locale: null,
      timezone: null,
      country: null,
      attributes: {},
      state,
    },
  };
}

/** A purchase that a rule can earn points for; override one thing. */
export function aRecordedEvent(
  overrides: Partial<EventData<'core.event.recorded.v1'>> = {},
): EventData<'core.event.recorded.v1'> {
  return {
    event_id: randomUUID(),
    contact_id: randomUUID(),
    external_id: 'customer-1',
    event: 'purchase_completed',
    occurred_at: new Date().toISOString(),
    received_at: new Date().toISOString(),
    properties: { amount: 12_990, currency: 'CLP', invoice_id: 'F-1' },
    ...overrides,
  };
}

/** A body for `POST /v1/loyalty/rules`; override one thing. */
export function aRuleBody(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: `Rule ${randomUUID()}`,
    event: 'purchase_completed',
    formula: { type: 'per_amount', currency: 'CLP', per: 1_000, points: 1 },
    ...overrides,
  };
}

/** A header `Idempotency-Key`, fresh unless given. */
export function aKey(key: string = randomUUID()): { 'idempotency-key': string } {
  return { 'idempotency-key': key };
}

/** Puts the end of a lot into the past, or elsewhere: by the sums that are derived, for the ledger takes no change. */
export async function endLot(
  database: TestDatabase,
  lot: { id: string },
  at: string = new Date(Date.now() - 1_000).toISOString(),
): Promise<void> {
  await database.query('UPDATE lot_balances SET expires_at = $2 WHERE lot_id = $1', [lot.id, at]);
}

/** What an erasure leaves of a contact's ledger. */
export async function entomb(
  database: TestDatabase,
  organizationId: string,
  contactId: string,
): Promise<void> {
  const own =
    'organization_id = $1 AND subject_ref IN (SELECT subject_ref FROM subjects WHERE organization_id = $1 AND contact_id = $2)';
  const given = [organizationId, contactId];
  await database.query(
    `INSERT INTO tombstones SELECT $1, subject_ref, now(), count(*), sum(points) FROM lines WHERE ${own} GROUP BY subject_ref`,
    given,
  );
  await database.query(`DELETE FROM links WHERE ${own}`, given);
  await database.query('DELETE FROM subjects WHERE organization_id = $1 AND contact_id = $2', given);
}

/** An organization with a caller, as loyalty's tests use it. */
export interface LoyaltyWorld {
  organizationId: string;
  caller: Caller;
  rule(overrides?: Record<string, unknown>): Promise<RuleDto>;
  /** Publishes events and waits until loyalty has taken all of them. */
  record(...events: EventData<'core.event.recorded.v1'>[]): Promise<void>;
  transactions(query?: string): Promise<TransactionDto[]>;
  balance(contactId: string): Promise<BalanceDto>;
  /** Posts with a key of its own; what a test does not expect to be posted it asks for by `caller`. */
  post(body: Record<string, unknown>): Promise<TransactionDto>;
}

/** Points that `record` itself makes on each contact: how it knows that everything before has been taken. */
export const MARKERS = 1;

export function aLoyaltyWorld(app: TestApp, probe: KafkaProbe): LoyaltyWorld {
  const organizationId = anOrganization().id;
  const caller = app.as(organizationId, [
    'loyalty.rules.create',
    'loyalty.rules.update',
    'loyalty.rules.delete',
    'loyalty.rules.purge',
    'loyalty.transactions.create',
    'loyalty.transactions.read',
    'loyalty.balances.read',
  ]);
  const transactions = async (query = 'limit=200'): Promise<TransactionDto[]> => {
    const answer = await caller.get<{ data: TransactionDto[] }>(`/v1/loyalty/transactions?${query}`);
    expectStatus(answer, 200);
    return answer.body.data;
  };
  return {
    organizationId,
    caller,
    transactions,
    rule: async (overrides) => {
      const answer = await caller.post<RuleDto>('/v1/loyalty/rules', aRuleBody(overrides));
      expectStatus(answer, 201);
      return answer.body;
    },
    record: async (...events) => {
      // Core tells of a contact before it tells of its events.
      const contactIds = [...new Set(events.map(({ contact_id: id }) => id))];
      await probe.publish(
        ...contactIds.map((id) => ({
          type: 'core.contact.created.v1' as const,
          organizationId,
          data: aContactChange(id, 1),
        })),
      );
      await probe.publish(
        ...events.map((data) => ({
          type: 'core.event.recorded.v1' as const,
          organizationId,
          data,
          correlationId: data.event_id,
        })),
      );
      // Each contact's last word: an event that a marker rule of the same organization turns into a point.
      const marker = `marker-${randomUUID()}`;
      await caller.post(
        '/v1/loyalty/rules',
        aRuleBody({ event: marker, formula: { type: 'fixed', points: 1 } }),
      );
      const last = contactIds.map((contact_id) => aRecordedEvent({ contact_id, event: marker }));
      await probe.publish(
        ...last.map((data) => ({ type: 'core.event.recorded.v1' as const, organizationId, data })),
      );
      for (const { event_id: id } of last) {
        await eventually(async () => expect(await transactions(`event_id=${id}`)).toHaveLength(1));
      }
    },
    post: async (body) => {
      const key = aKey();
      // A 503 is waited out as a client should: on a busy machine the look-up of the contact comes too late now and then.
      const answer = await eventually(async () => {
        const given = await caller.post<TransactionDto>('/v1/loyalty/transactions', body, key);
        if (given.status === 503) throw new Error('core does not answer yet');
        return given;
      });
      expectStatus(answer, 201);
      return answer.body;
    },
    balance: async (contactId) =>
      (await caller.get<BalanceDto>(`/v1/loyalty/contacts/${contactId}/balance`)).body,
  };
}
