import { randomUUID } from 'node:crypto';
import { newId, ReferenceHolds } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import {
  type Answer,
  type InternalPeer,
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
} from '@customer-platform/testing';
import type { TransactionDto } from '../ledger/transaction.dto.js';
import {
  type LookedUpContact,
  type LoyaltyWorld,
  aContactChange,
  aKey,
  aLoyaltyWorld,
  startLoyalty,
} from '../loyalty.fixture.js';

const PATH = '/v1/loyalty/transactions';

let app: TestApp;
let database: TestDatabase;
let core: InternalPeer;
let contacts: LookedUpContact[];
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
beforeAll(async () => {
  ({ app, database, core, contacts, close } = await startLoyalty());
  probe = kafkaProbe(app);
  probe.collect('loyalty');
});
afterAll(() => close());
beforeEach(() => {
  world = aLoyaltyWorld(app, probe);
});

/** A contact that core knows. */
const aContact = (overrides: Partial<LookedUpContact> = {}): string => {
  const contact = { id: randomUUID(), state: 'active' as const, merged_into: null, version: 1, ...overrides };
  contacts.push(contact);
  return contact.id;
};
const adjust = (contact_id: string, points: number, more: Record<string, unknown> = {}) =>
  world.post({ kind: 'adjust', contact_id, points, reason: 'Goodwill', ...more });
const rows = async (): Promise<number> => {
  const sql = 'SELECT count(*)::int AS count FROM transactions WHERE organization_id = $1';
  return (await database.query<{ count: number }>(sql, [world.organizationId]))[0]?.count ?? 0;
};

describe('POST /v1/loyalty/transactions', () => {
  it('201 with the whole transaction, told of, audited, and found under its id', async () => {
    const contact_id = aContact();
    const body = {
      kind: 'adjust',
      contact_id,
      points: 120,
      reason: 'Welcome',
      reference: 'case 7',
      expires_at: '2099-01-01T00:00:00.000Z',
    };
    const answer = await world.caller.post<TransactionDto>(PATH, body, aKey());
    expectStatus(answer, 201);
    const { id } = answer.body;
    expect(answer.body).toEqual({
      id,
      ...body,
      line_count: 1,
      lines: [{ lot_id: id, points: 120 }],
      rule_id: null,
      rule_version: null,
      event_id: null,
      reverses_id: null,
      actor: { type: 'api_key', id: expect.any(String) },
      occurred_at: answer.body.created_at,
      correlation_id: answer.headers.get('x-correlation-id'),
      created_at: expect.any(String),
      tombstoned_at: null,
    });
    expect(answer.headers.get('location')).toBe(`${PATH}/${id}`);
    expect(answer.headers.get('idempotent-replay')).toBeNull();
    expect((await world.caller.get(`${PATH}/${id}`)).body).toEqual(answer.body);
    const [told] = await probe.expectEvents('loyalty.points.adjusted.v1', world.organizationId, 1);
    expect(told).toMatchObject({
      correlationid: answer.body.correlation_id,
      data: { transaction_id: id, contact_id, points: 120, available: 120, rule_id: null, event_id: null },
    });
    const audited = await database.query(
      'SELECT action, resource_type, resource_id, reason FROM audit_entries WHERE organization_id = $1',
      [world.organizationId],
    );
    expect(audited).toEqual([
      { action: 'loyalty.transactions.create', resource_type: 'transactions', resource_id: id, reason: null },
    ]);
  });

  it('takes from the lots that end soonest, those without an end last, and of equals the oldest', async () => {
    const contact_id = aContact();
    const endless = await adjust(contact_id, 10);
    const late = await adjust(contact_id, 10, { expires_at: '2099-01-01T00:00:00.000Z' });
    const soon = await adjust(contact_id, 10, { expires_at: '2098-01-01T00:00:00.000Z' });
    const younger = await adjust(contact_id, 10);
    const spent = await world.post({ kind: 'spend', contact_id, points: 35 });
    expect(spent.points).toBe(-35);
    const taken = new Map(spent.lines.map((line) => [line.lot_id, line.points]));
    expect([soon, late, endless, younger].map(({ id }) => taken.get(id))).toEqual([-10, -10, -10, -5]);
    expect(await world.balance(contact_id)).toMatchObject({ points: 5, available: 5, expiring: [] });
    const [told] = await probe.expectEvents('loyalty.points.spent.v1', world.organizationId, 1);
    expect(told?.data).toMatchObject({ points: -35, available: 5 });
  });

  it.each(['spend', 'adjust'])(
    '409 to a %s beyond what is available, and nothing is written',
    async (kind) => {
      const contact_id = aContact();
      await adjust(contact_id, 30);
      const points = kind === 'spend' ? 31 : -31;
      const before = await rows();
      const key = aKey();
      const body = { kind, contact_id, points, reason: 'Redeemed' };
      const problem = expectProblem(await world.caller.post(PATH, body, key), 409, 'insufficient_points');
      expect(problem).toMatchObject({ available: 30, requested: 31 });
      expect(await rows()).toBe(before);
      // The key stays free: with enough points the very same call passes.
      await adjust(contact_id, 1);
      expectStatus(await world.caller.post(PATH, body, key), 201);
      expect((await world.balance(contact_id)).points).toBe(0);
    },
  );

  it.each([
    ['/kind', 'invalid_enum', { kind: 'earn' }],
    ['/kind', 'invalid_enum', { kind: 'expire' }],
    ['/contact_id', 'required', { contact_id: undefined }],
    ['/contact_id', 'invalid_format', { contact_id: 'x' }],
    ['/points', 'required', { points: undefined }],
    ['/points', 'out_of_range', { points: 0 }],
    ['/points', 'out_of_range', { points: 1_000_000_001 }],
    ['/points', 'out_of_range', { points: -1_000_000_001 }],
    ['/points', 'wrong_type', { points: 1.5 }],
    ['/points', 'out_of_range', { kind: 'spend', points: -1 }],
    ['/reason', 'required', { reason: undefined }],
    ['/reason', 'too_short', { reason: '' }],
    ['/reason', 'too_long', { reason: 'x'.repeat(501) }],
    ['/reference', 'too_long', { reference: 'x'.repeat(101) }],
    ['/reverses_id', 'not_allowed', { reverses_id: randomUUID() }],
    ['/reverses_id', 'required', { kind: 'reverse', contact_id: undefined, points: undefined }],
    ['/reason', 'required', { kind: 'reverse', reason: undefined }],
    ['/contact_id', 'not_allowed', { kind: 'reverse', reverses_id: randomUUID() }],
    ['/points', 'not_allowed', { kind: 'reverse', reverses_id: randomUUID() }],
    ['/expires_at', 'out_of_range', { expires_at: '2020-01-01T00:00:00Z' }],
    ['/expires_at', 'invalid_format', { expires_at: '2099-01-01T00:00:00' }],
    ['/expires_at', 'not_allowed', { points: -1, expires_at: '2099-01-01T00:00:00Z' }],
    ['/expires_at', 'not_allowed', { kind: 'spend', expires_at: '2099-01-01T00:00:00Z' }],
    ['/note', 'unknown_field', { note: 'x' }],
  ])('400 with a pointer to %s: %s', async (pointer, code, overrides) => {
    const body = { kind: 'adjust', contact_id: aContact(), points: 1, reason: 'x', ...overrides };
    const problem = expectProblem(await world.caller.post(PATH, body, aKey()), 400, 'validation_failed');
    expect(problem.errors).toContainEqual(expect.objectContaining({ pointer, code }));
    expect(await rows()).toBe(0);
  });

  it('403 to whoever holds all other permissions; taken of one who holds only this', async () => {
    const body = { kind: 'adjust', contact_id: aContact(), points: 1, reason: 'x' };
    const others = PERMISSIONS.filter((permission) => permission !== 'loyalty.transactions.create');
    expectProblem(
      await app.as(world.organizationId, others).post(PATH, { bad: 1 }),
      403,
      'permission_denied',
    );
    const only = app.as(world.organizationId, ['loyalty.transactions.create']);
    expectStatus(await only.post(PATH, body, aKey()), 201);
    expectProblem(await app.with().post(PATH, body, aKey()), 401, 'missing_credentials');
  });
});

describe('the contact of a posting', () => {
  /** Waits until the contact's end has been told of. */
  const unknownHere = (id: string) =>
    eventually(async () =>
      expectProblem(await world.caller.get(`/v1/loyalty/contacts/${id}/balance`), 404, 'not_found'),
    );
  const spendOf = (contact_id: string) =>
    world.caller.post(PATH, { kind: 'adjust', contact_id, points: 5, reason: 'x' }, aKey());

  it('merged stands for its survivor, also where only core knows of it', async () => {
    const survivor = aContact();
    const merged = aContact({ state: 'merged', merged_into: survivor });
    const answer = await spendOf(merged);
    expectStatus(answer, 201);
    expect(answer.body).toMatchObject({ contact_id: survivor });
  });

  it('422 where it is soft-deleted, or about to be purged', async () => {
    expectProblem(await spendOf(aContact({ state: 'deleted' })), 422, 'reference_deleted');
    const held = aContact();
    const { organizationId } = world;
    const hold = { organizationId, resource: 'core.contacts', id: held };
    await app.app.get(ReferenceHolds).countAndHold(hold, newId(), 10_000);
    expectProblem(await spendOf(held), 422, 'reference_deleted');
    expect(await rows()).toBe(0);
  });

  it('422, one body for all, where it is foreign, erased, purged or never was', async () => {
    const [purged, erased] = [randomUUID(), aContact()];
    const { contact: _, ...end } = aContactChange(purged, 2);
    const { organizationId } = world;
    await probe.publish({ type: 'core.contact.purged.v1', organizationId, data: { ...end, contact: null } });
    await probe.publish({
      type: 'core.contact.erased.v1',
      organizationId,
      data: { ...end, contact_id: erased, contact: null },
    });
    const gone = aContact({ state: 'erased' });
    for (const id of [purged, erased]) await unknownHere(id);
    const bodies = new Set<string>();
    for (const id of [purged, erased, gone, randomUUID()]) {
      const { correlation_id: _id, ...body } = expectProblem(await spendOf(id), 422, 'reference_not_found');
      bodies.add(JSON.stringify(body));
    }
    expect(bodies.size).toBe(1);
    expect(await database.query('SELECT FROM subjects WHERE contact_id = $1', [erased])).toEqual([]);
  });

  it('422 where its survivor is erased, whatever core still says', async () => {
    const survivor = aContact();
    const merged = aContact({ state: 'merged', merged_into: survivor });
    const { contact: _, ...end } = aContactChange(survivor, 2);
    const { organizationId } = world;
    await probe.publish({ type: 'core.contact.erased.v1', organizationId, data: { ...end, contact: null } });
    await unknownHere(survivor);
    expectProblem(await spendOf(survivor), 422, 'reference_not_found');
    expectProblem(await spendOf(merged), 422, 'reference_not_found');
  });

  it('503 while core must be asked and is silent, and nothing is written; a key answered before is answered', async () => {
    const known = aContact();
    const key = aKey();
    const body = { kind: 'adjust', contact_id: known, points: 5, reason: 'x' };
    expectStatus(await world.caller.post(PATH, body, key), 201);
    core.outage(true);
    try {
      expectProblem(await spendOf(aContact()), 503, 'dependency_unavailable');
      expectStatus(await world.caller.post(PATH, body, key), 201);
      expectStatus(await spendOf(known), 201);
    } finally {
      core.outage(false);
    }
    expect(await rows()).toBe(2);
  });
});

describe('the key of a posting', () => {
  it('is required', async () => {
    const body = { kind: 'adjust', contact_id: aContact(), points: 1, reason: 'x' };
    expectProblem(await world.caller.post(PATH, body), 400, 'idempotency_key_required');
    const long = await world.caller.post(PATH, body, aKey('x'.repeat(256)));
    expectProblem(long, 400, 'validation_failed');
  });

  it('gives the same 201 again, in any spelling of the body; 422 for another body; other organizations have their own', async () => {
    const contact_id = aContact();
    const key = aKey();
    const body = { kind: 'adjust', contact_id, points: 50, reason: 'x' };
    const first = await world.caller.post<TransactionDto>(PATH, body, key);
    const elsewhere = aLoyaltyWorld(app, probe);
    const foreign = await elsewhere.caller.post(PATH, body, key);
    expectStatus(foreign, 201);
    expect(foreign.headers.get('idempotent-replay')).toBeNull();
    // What has happened to the contact since makes no difference.
    await world.post({ kind: 'spend', contact_id, points: 50 });
    await database.query("UPDATE contact_refs SET state = 'deleted' WHERE id = $1", [contact_id]);
    const reordered = Object.fromEntries(Object.entries(body).reverse());
    const again = await world.caller.post<TransactionDto>(PATH, reordered, key);
    expectStatus(again, 201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replay')).toBe('true');
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    const other = await world.caller.post(PATH, { ...body, points: 51 }, key);
    expectProblem(other, 422, 'idempotency_key_reused');
    expect(await rows()).toBe(2);
  });

  it('is kept as a keyed hash only, and has no day after which it is forgotten', async () => {
    const key = `invoice-${randomUUID()}`;
    const body = { kind: 'adjust', contact_id: aContact(), points: 50, reason: 'x' };
    expectStatus(await world.caller.post(PATH, body, aKey(key)), 201);
    const kept = await database.query<Record<string, unknown>>(
      'SELECT * FROM transactions WHERE organization_id = $1',
      [world.organizationId],
    );
    expect(JSON.stringify(kept)).not.toContain(key);
    expect((kept[0]?.['idempotency_hash'] as Buffer).length).toBe(32);
    expect(
      await database.query('SELECT FROM idempotency_keys WHERE organization_id = $1', [world.organizationId]),
    ).toEqual([]);
  });

  it('posts once of 30 calls at once, and answers all of them alike', async () => {
    const key = aKey();
    const body = { kind: 'adjust', contact_id: aContact(), points: 50, reason: 'x' };
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => world.caller.post<TransactionDto>(PATH, body, key)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 201));
    expect(new Set(answers.map(({ body: { id } }) => id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replay') === null)).toHaveLength(1);
    expect(await rows()).toBe(1);
  });

  it('409 after a wait while another call with it is under way', async () => {
    const contact_id = aContact();
    await adjust(contact_id, 10);
    const key = aKey();
    const body = { kind: 'spend', contact_id, points: 1 };
    await database.query('BEGIN');
    let calls: Promise<Answer<TransactionDto>>[] = [];
    try {
      await database.query('SELECT FROM balances WHERE organization_id = $1 FOR UPDATE', [
        world.organizationId,
      ]);
      calls = [1, 2].map(() => world.caller.post<TransactionDto>(PATH, body, key));
      expectProblem(await Promise.race(calls), 409, 'idempotency_in_progress');
    } finally {
      await database.query('ROLLBACK');
    }
    expect((await Promise.all(calls)).map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await rows()).toBe(2);
  });
});
