import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, newId } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import {
  DatabaseFault,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
  unknownId,
  type Caller,
  type KafkaProbe,
} from '@customer-platform/testing';
import { Client } from 'pg';
import { START_MS } from '../core.fixture.js';
import { ErasureWorld, REQUESTS, VERIFICATION } from './subject-request.fixture.js';
import type { SubjectRequestDto } from './subject-request.dto.js';
import { DueWarnings } from './due-warnings.js';

let world: ErasureWorld;
let probe: KafkaProbe;
beforeAll(async () => {
  world = await ErasureWorld.start();
  probe = kafkaProbe(world.contacts.core.app);
  probe.collect('core');
}, START_MS);
afterAll(() => world.close());

const open = async (caller: Caller, body: Record<string, unknown> = {}): Promise<SubjectRequestDto> => {
  const { id } = await world.contacts.created(caller);
  const answer = await caller.post<SubjectRequestDto>(REQUESTS, { type: 'erasure', contact_id: id, ...body });
  expectStatus(answer, 202);
  return answer.body;
};

const WAITING = `
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'`;
const VERIFY = `
  UPDATE subject_requests SET state = 'in_progress', verification_method = 'x', verified_at = now() WHERE id = $1`;
const RECEIPT = `
  INSERT INTO subject_request_receipts (organization_id, subject_request_id, module, state, counts, signature, received_at)
  VALUES ($1, $2, 'core', 'verified', '{}', 'signed', now())`;

describe('GET /v1/core/subject-requests/{id}', () => {
  it('tells a request and its receipts as of one moment', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { database } = world.contacts.core;
    const request = await open(caller, { note: 'By mail' });
    await database.query(VERIFY, [request.id]);
    const eraser = new Client({ connectionString: database.adminUrl });
    await eraser.connect();
    try {
      await eraser.query('BEGIN; LOCK TABLE subject_request_receipts');
      const reading = world.read(caller, request);
      await eventually(async () => expect(await database.query(WAITING)).not.toEqual([]));
      await eraser.query('UPDATE subject_requests SET note = NULL WHERE id = $1', [request.id]);
      await eraser.query(RECEIPT, [organizationId, request.id]);
      await eraser.query('COMMIT');
      const { note, receipts } = await reading;
      expect([note, receipts[0]?.state]).toEqual([null, 'verified']);
    } finally {
      await eraser.end();
    }
  });
});

describe('POST /v1/core/subject-requests', () => {
  it('202 with a request that waits for its verification', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const contact = await world.contacts.created(caller);
    const answer = await caller.post<SubjectRequestDto>(REQUESTS, {
      type: 'erasure',
      contact_id: contact.id,
      received_at: '2026-06-02T12:00:00.000Z',
      note: 'By mail',
    });
    expectStatus(answer, 202);
    expect(answer.headers.get('location')).toBe(`${REQUESTS}/${answer.body.id}`);
    expect(answer.body).toMatchObject({
      state: 'verifying',
      contact_id: contact.id,
      jurisdiction: 'CL',
      due_at: '2026-07-03T03:59:59.999Z',
      overdue: true,
      verification: null,
      receipts: [],
      note: 'By mail',
    });
    const [event] = await probe.expectEvents('core.subject_request.received.v1', organizationId, 1);
    expect(event?.data).toMatchObject({ subject_request_id: answer.body.id, contact_id: contact.id });
  });

  it('finds the person by an identity, of a merged contact its survivor', async () => {
    const { caller } = world.contacts.anOrganization();
    const survivor = await world.contacts.created(caller);
    const email = `Ana.${newId()}@Example.com`;
    const merged = await world.contacts.created(caller, { email });
    expectStatus(
      await caller.post('/v1/core/contacts/merge', { survivor_id: survivor.id, merged_id: merged.id }),
      200,
    );
    const identity = { type: 'email', value: email.toUpperCase() };
    const answer = await caller.post<SubjectRequestDto>(REQUESTS, { type: 'erasure', identity });
    expectStatus(answer, 202);
    expect(answer.body.contact_id).toBe(survivor.id);
    const again = await caller.post<SubjectRequestDto>(REQUESTS, { type: 'erasure', contact_id: merged.id });
    expect(again.body.contact_id).toBe(survivor.id);
  });

  it('422 for nobody, and for another organization’s contact', async () => {
    const { caller } = world.contacts.anOrganization();
    const foreign = await world.contacts.created(world.contacts.anOrganization().caller);
    for (const id of [unknownId(), foreign.id]) {
      const answer = await caller.post(REQUESTS, { type: 'erasure', contact_id: id });
      expectProblem(answer, 422, 'reference_not_found');
    }
  });

  it('400 out_of_range long before there were such requests', async () => {
    const { caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    for (const received_at of ['0999-12-31T12:00:00Z', '0001-01-01T00:00:00Z', '1969-12-31T23:59:59Z']) {
      const answer = await caller.post(REQUESTS, { type: 'erasure', contact_id: id, received_at });
      const problem = expectProblem(answer, 400, 'validation_failed');
      expect(problem.errors).toEqual([
        expect.objectContaining({ pointer: '/received_at', code: 'out_of_range' }),
      ]);
    }
  });

  it('400 without a person, with two, in the future', async () => {
    const { caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    const identity = { type: 'email', value: 'ana@example.com' };
    const wrong = [
      {},
      { contact_id: id, identity },
      { contact_id: id, received_at: new Date(Date.now() + 60_000).toISOString() },
      { contact_id: id, verification: { method: 'x', verified_at: '2999-01-01T00:00:00Z' } },
      { contact_id: id, jurisdiction: 'XX' },
    ];
    for (const body of wrong)
      expectProblem(await caller.post(REQUESTS, { type: 'erasure', ...body }), 400, 'validation_failed');
  });

  it('the same answer for the same key', async () => {
    const { caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    const headers = { 'idempotency-key': newId() };
    const body = { type: 'erasure', contact_id: id, verification: VERIFICATION };
    const first = await caller.post<SubjectRequestDto>(REQUESTS, body, headers);
    await world.doneByCore(caller, first.body);
    const again = await caller.post<SubjectRequestDto>(REQUESTS, body, headers);
    expectStatus(again, 202);
    expect(again.body.id).toBe(first.body.id);
  });
});

describe('PATCH /v1/core/subject-requests/{id}', () => {
  it('verifies, guarded by the tag', async () => {
    const { caller } = world.contacts.anOrganization();
    const request = await open(caller);
    const path = `${REQUESTS}/${request.id}`;
    const read = await caller.get(path);
    const wrong = await caller.patch(path, { verification: VERIFICATION }, { 'if-match': '"x"' });
    expectProblem(wrong, 412, 'etag_mismatch');
    const headers = { 'if-match': read.headers.get('etag') ?? '' };
    const answer = await caller.patch<SubjectRequestDto>(path, { verification: VERIFICATION }, headers);
    expectStatus(answer, 200);
    expect(answer.body).toMatchObject({ state: 'in_progress', verification: VERIFICATION });
    expect(answer.body.receipts.map(({ module }) => module)).toEqual(['core', 'crm', 'loyalty', 'messaging']);
    expectProblem(await caller.patch(path, { verification: VERIFICATION }), 409, 'invalid_state');
    expectProblem(await caller.patch(path, { rejection: { ground: 'other' } }), 409, 'invalid_state');
  });

  it('extends once, with a reason', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const request = await open(caller, { received_at: '2026-08-07T12:00:00.000Z' });
    const path = `${REQUESTS}/${request.id}`;
    expectProblem(await caller.patch(path, { extension_reason: '' }), 400, 'validation_failed');
    const answer = await caller.patch<SubjectRequestDto>(path, { extension_reason: 'Many systems' });
    expect(answer.body).toMatchObject({
      due_at: '2026-10-07T02:59:59.999Z',
      extension: { reason: 'Many systems' },
    });
    expectProblem(await caller.patch(path, { extension_reason: 'Again' }), 409, 'invalid_state');
    const [event] = await probe.expectEvents('core.subject_request.extended.v1', id, 1);
    expect(event?.data.reason).toBe('Many systems');
  });

  it('rejects with a ground what was not begun', async () => {
    const { id, caller } = world.contacts.anOrganization();
    const request = await open(caller);
    const path = `${REQUESTS}/${request.id}`;
    expectProblem(await caller.patch(path, { rejection: { ground: 'mood' } }), 400, 'validation_failed');
    const both = { rejection: { ground: 'other' }, extension_reason: 'x' };
    expectProblem(await caller.patch(path, both), 400, 'validation_failed');
    const rejection = { ground: 'not_the_person', detail: 'The document is another’s.' };
    const answer = await caller.patch<SubjectRequestDto>(path, { rejection });
    expect(answer.body).toMatchObject({ state: 'rejected', rejection, overdue: false });
    expectProblem(await caller.patch(path, { verification: VERIFICATION }), 409, 'invalid_state');
    expectProblem(await caller.patch(path, { extension_reason: 'x' }), 409, 'invalid_state');
    await probe.expectEvents('core.subject_request.rejected.v1', id, 1);
    expect((await caller.get(`/v1/core/contacts/${request.contact_id}`)).status).toBe(200);
  });

  it('404 for another organization’s', async () => {
    const request = await open(world.contacts.anOrganization().caller);
    const { caller } = world.contacts.anOrganization();
    expectProblem(await caller.get(`${REQUESTS}/${request.id}`), 404, 'not_found');
    expectProblem(await caller.patch(`${REQUESTS}/${request.id}`, {}), 404, 'not_found');
  });
});

describe('GET /v1/core/subject-requests', () => {
  it('filters and sorts', async () => {
    const { caller } = world.contacts.anOrganization();
    const old = await open(caller, { received_at: '2026-01-07T12:00:00.000Z' });
    const young = await open(caller);
    const idsOf = async (query: string): Promise<string[]> => {
      const answer = await caller.get<{ data: SubjectRequestDto[] }>(`${REQUESTS}${query}`);
      expectStatus(answer, 200);
      return answer.body.data.map(({ id }) => id);
    };
    expect(await idsOf('')).toEqual([young.id, old.id]);
    expect(await idsOf('?sort=due_at')).toEqual([old.id, young.id]);
    expect(await idsOf(`?contact_id=${old.contact_id}`)).toEqual([old.id]);
    expect(await idsOf('?state=completed')).toEqual([]);
    expectProblem(await caller.get(`${REQUESTS}?note=x`), 400, 'unknown_parameter');
  });
});

describe('core.subject_request.due_soon', () => {
  it('comes at ten days and at three, once each, with two instances at once', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const requests = await Promise.all(Array.from({ length: 8 }, () => open(caller)));
    const due = Date.parse(requests[0]?.due_at ?? '');
    let now = new Date();
    class Stopped extends Clock {
      override now(): Date {
        return now;
      }
    }
    const { app } = world.contacts.core.app;
    const instances = [1, 2].map(
      () => new DueWarnings(app.get(Database), app.get(Outbox), new Stopped(), app.get(Tenants)),
    );
    const look = () => Promise.all(instances.map((instance) => instance.runAll()));
    const told = () => probe.events('core.subject_request.due_soon.v1', organizationId).length;
    await look();
    now = new Date(due - 9 * 86_400_000);
    await look();
    await look();
    await probe.expectEvents('core.subject_request.due_soon.v1', organizationId, 8);
    now = new Date(due - 2 * 86_400_000);
    await look();
    await look();
    await probe.expectEvents('core.subject_request.due_soon.v1', organizationId, 16);
    now = new Date(due - 1);
    await look();
    // What is told later is behind whatever else was told: the marker has come, and nothing between.
    await open(caller);
    await eventually(() =>
      expect(probe.events('core.subject_request.received.v1', organizationId)).toHaveLength(9),
    );
    expect(told()).toBe(16);
  });

  it('comes for the others where one cannot be told of, and for that once it can', async () => {
    const [one, other] = [world.contacts.anOrganization(), world.contacts.anOrganization()];
    const [first] = [await open(one.caller), await open(other.caller)];
    const fault = await DatabaseFault.in(world.contacts.core.database, {
      table: 'subject_requests',
      on: 'UPDATE',
      when: `NEW.organization_id = '${one.id}' AND NEW.warned_days IS NOT NULL`,
    });
    let now = new Date(Date.parse(first.due_at) - 9 * 86_400_000);
    const { app } = world.contacts.core.app;
    const warnings = new DueWarnings(
      app.get(Database),
      app.get(Outbox),
      { now: () => now },
      app.get(Tenants),
    );
    await warnings.runAll();
    await probe.expectEvents('core.subject_request.due_soon.v1', other.id, 1);
    await fault.mend();
    now = new Date(now.getTime() + 60_000);
    await warnings.runAll();
    await probe.expectEvents('core.subject_request.due_soon.v1', one.id, 1);
  });
});
