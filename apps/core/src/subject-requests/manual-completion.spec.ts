import { jest } from '@jest/globals';
import { Clock, newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import {
  behindLock,
  DatabaseFault,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
  searchEverything,
  type Caller,
  type KafkaProbe,
} from '@customer-platform/testing';
import { Client } from 'pg';
import { START_MS } from '../core.fixture.js';
import { ErasureWorld, REQUESTS, VERIFICATION } from './subject-request.fixture.js';
import type { SubjectRequestDto } from './subject-request.dto.js';

let world: ErasureWorld;
let probe: KafkaProbe;
beforeAll(async () => {
  world = await ErasureWorld.start();
  probe = kafkaProbe(world.contacts.core.app);
  probe.collect('core');
}, START_MS);
afterAll(() => world.close());

const CORRECTIONS = [
  { field: 'last_name', value: 'Núñez' },
  { field: 'attributes.size', value: null },
  { field: 'national_id', value: null },
];
const CONTENT = {
  rectification: { corrections: CORRECTIONS },
  opposition: { purposes: ['marketing', 'custom.raffles'] },
  blocking: {},
} as const;
type Type = keyof typeof CONTENT;

const open = async (caller: Caller, type: Type, body: object = {}): Promise<SubjectRequestDto> => {
  const contact_id = (await world.contacts.created(caller)).id;
  const answer = await caller.post<SubjectRequestDto>(REQUESTS, {
    type,
    contact_id,
    ...CONTENT[type],
    ...body,
  });
  expectStatus(answer, 202);
  return answer.body;
};

const complete = (caller: Caller, { id }: { id: string }, outcome = 'It was done.') =>
  caller.patch<SubjectRequestDto>(`${REQUESTS}/${id}`, { completion: { outcome } });

interface State {
  purpose: string;
  status: string;
  method: string;
}
const statesOf = async (caller: Caller, contactId: string): Promise<Record<string, string>> => {
  const { body } = await caller.get<{ data: State[] }>(`/v1/core/contacts/${contactId}/consents`);
  return Object.fromEntries(
    body.data.map(({ purpose, status, method }) => [purpose, `${status} by ${method}`]),
  );
};

describe('a request that staff carries out', () => {
  it.each(Object.keys(CONTENT) as Type[])(
    '%s waits for verification, can be extended, and is completed once',
    async (type) => {
      const { id: organizationId, caller } = world.contacts.anOrganization();
      const request = await open(caller, type, { received_at: '2026-06-02T12:00:00.000Z' });
      expect(request).toMatchObject({
        ...{
          type,
          state: 'verifying',
          receipts: [],
          result: null,
          outcome: null,
          corrections: null,
          purposes: null,
        },
        ...CONTENT[type],
        ...{ overdue: true, due_at: '2026-07-03T03:59:59.999Z' },
      });
      const path = `${REQUESTS}/${request.id}`;
      expectProblem(await complete(caller, request), 409, 'invalid_state');
      expectStatus(await caller.patch(path, { extension_reason: 'Many systems' }), 200);
      const verified = await caller.patch<SubjectRequestDto>(path, { verification: VERIFICATION });
      expect(verified.body).toMatchObject({ state: 'in_progress', receipts: [], result: null });
      expectProblem(await caller.patch(path, { completion: { outcome: '' } }), 400, 'validation_failed');
      const { body } = await complete(caller, request, 'Done as asked.');
      expect(body).toMatchObject({ state: 'completed', outcome: 'Done as asked.', corrections: null });
      expect(body.completed_at).not.toBeNull();
      expectProblem(await complete(caller, request), 409, 'invalid_state');
      await probe.expectEvents('core.subject_request.completed.v1', organizationId, 1);
    },
  );

  it('is rejected as well after it was verified, and keeps no correction', async () => {
    const { caller } = world.contacts.anOrganization();
    const request = await open(caller, 'rectification', { verification: VERIFICATION });
    const rejection = { ground: 'unfounded', detail: 'The document says otherwise.' };
    const answer = await caller.patch(`${REQUESTS}/${request.id}`, { rejection });
    expectStatus(answer, 200);
    expect(answer.body).toMatchObject({ state: 'rejected', rejection, corrections: null });
    expectProblem(await complete(caller, request), 409, 'invalid_state');
  });

  it('400 without what its type needs, or with what is another’s', async () => {
    const { caller } = world.contacts.anOrganization();
    const { id: contact_id } = await world.contacts.created(caller);
    const corrections = (field: string, value: string | null) => ({ corrections: [{ field, value }] });
    const wrong: [Type | 'access', object, string][] = [
      ['rectification', {}, '/corrections'],
      ['rectification', { corrections: [] }, '/corrections'],
      ['rectification', corrections('points', '1'), '/corrections/0/field'],
      ['rectification', corrections('attributes.', '1'), '/corrections/0/field'],
      ['rectification', { corrections: [{ field: 'email' }] }, '/corrections/0/value'],
      ['rectification', corrections('national_id', '12345678-5'), '/corrections/0/value'],
      ['rectification', { ...corrections('email', null), purposes: ['marketing'] }, '/purposes'],
      ['opposition', {}, '/purposes'],
      ['opposition', { purposes: ['everything'] }, '/purposes'],
      ['opposition', { purposes: ['marketing', 'marketing'] }, '/purposes'],
      ['blocking', { purposes: ['marketing'] }, '/purposes'],
      ['access', corrections('email', null), '/corrections'],
    ];
    for (const [type, body, pointer] of wrong) {
      const answer = await caller.post(REQUESTS, { type, contact_id, ...body });
      const { errors } = expectProblem(answer, 400, 'validation_failed');
      expect({ type, body, pointers: errors?.map((error) => error.pointer) }).toEqual({
        ...{ type, body, pointers: [pointer] },
      });
    }
  });

  it('shows what is written about the person only to who may read contacts', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const mark = newId().slice(-10);
    const verification = { method: 'x', reference: `reference-${mark}` };
    const words = { note: `note-${mark}`, corrections: [{ field: 'other', value: `other-${mark}` }] };
    const request = await open(caller, 'rectification', { ...words, verification });
    const refused = await open(caller, 'rectification', words);
    const done = await open(caller, 'blocking', { verification });
    const path = `${REQUESTS}/${refused.id}`;
    const rejection = { ground: 'other', detail: `detail-${mark}` };
    expectStatus(await caller.patch(path, { rejection }), 200);
    expectStatus(await complete(caller, done, `outcome-${mark}`), 200);
    const as = (permissions: readonly Permission[]) =>
      world.contacts.core.app.as(organizationId, [...permissions]);
    const blind = as(['core.subject_requests.read', 'core.subject_requests.create']);
    const seeing = as(['core.subject_requests.read', 'core.contacts.read']);
    const list = await blind.get<{ data: SubjectRequestDto[] }>(REQUESTS);
    expect(list.body.data).toHaveLength(3);
    expect(JSON.stringify(list.body)).not.toContain(mark);
    expect(await world.read(blind, request)).toMatchObject({
      note: null,
      corrections: null,
      verification: { method: 'x', reference: null },
    });
    const extended = await blind.patch(`${REQUESTS}/${request.id}`, { extension_reason: 'Many systems' });
    expectStatus(extended, 200);
    expect(JSON.stringify(extended.body)).not.toContain(mark);
    expect(await world.read(seeing, request)).toMatchObject({ ...words, verification });
    expect(await world.read(seeing, refused)).toMatchObject({ rejection });
    expect(await world.read(seeing, done)).toMatchObject({ outcome: `outcome-${mark}` });
  });

  it('409 for what the platform completes itself', async () => {
    const { caller } = world.contacts.anOrganization();
    const { id } = await world.contacts.created(caller);
    const request = await world.erase(caller, { contact_id: id, verification: undefined });
    expectProblem(await complete(caller, request), 409, 'invalid_state');
  });
});

describe('an opposition', () => {
  it('withdraws the consents to its purposes when it is completed, of the survivor of a merge, once', async () => {
    const { caller } = world.contacts.anOrganization();
    const request = await open(caller, 'opposition', { verification: VERIFICATION });
    const survivor = await world.contacts.created(caller);
    const merge = { survivor_id: survivor.id, merged_id: request.contact_id };
    expectStatus(await caller.post('/v1/core/contacts/merge', merge), 200);
    const granted = { purpose: 'marketing', status: 'granted', notice_version: '1', method: 'web' };
    expectStatus(await caller.post(`/v1/core/contacts/${survivor.id}/consents`, granted), 201);
    const answers = await Promise.all([complete(caller, request), complete(caller, request)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await statesOf(caller, survivor.id)).toEqual({
      marketing: 'withdrawn by opposition',
      'custom.raffles': 'withdrawn by opposition',
    });
    const path = `/v1/core/contacts/${survivor.id}/consents?view=history`;
    expect((await caller.get<{ data: unknown[] }>(path)).body.data).toHaveLength(3);
  });
});

const REJECT = `
  UPDATE subject_requests
     SET state = 'rejected', rejection_ground = 'unfounded', rejection_detail = $2, completed_at = now(),
         updated_at = now()
   WHERE id = $1`;
const VERIFY = `
  UPDATE subject_requests
     SET state = 'in_progress', verification_method = 'x', verification_reference = $2, verified_at = now(),
         updated_at = now()
   WHERE id = $1`;
const WAITING = `
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'`;
const LEFT_OPEN = `
  UPDATE subject_requests
     SET state = 'in_progress', rejection_ground = NULL, rejection_detail = NULL, completed_at = NULL, note = $2,
         verification_method = 'x', verification_reference = $2, verified_at = now(), outcome = $2, corrections = $3
   WHERE id = $1`;

describe('an erasure', () => {
  it('rejects what is under way, and takes what was written in any request', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const mark = newId().slice(-10);
    const words = { note: `note-${mark}`, verification: { method: 'x', reference: `reference-${mark}` } };
    const corrections = [{ field: 'last_name', value: `last-${mark}` }];
    const request = await open(caller, 'rectification', { ...words, corrections });
    const { contact_id } = request;
    const done = await caller.post<SubjectRequestDto>(REQUESTS, { type: 'blocking', contact_id, ...words });
    await complete(caller, done.body, `outcome-${mark}`);
    const refused = await caller.post<SubjectRequestDto>(REQUESTS, { type: 'erasure', contact_id });
    const rejection = { ground: 'not_verified', detail: `detail-${mark}` };
    await caller.patch(`${REQUESTS}/${refused.body.id}`, { rejection });
    const waiting = await caller.post<SubjectRequestDto>(REQUESTS, {
      type: 'erasure',
      contact_id,
      note: words.note,
    });
    const access = await caller.post<SubjectRequestDto>(REQUESTS, {
      type: 'access',
      contact_id,
      note: words.note,
    });
    const erasure = await world.erase(caller, { contact_id, ...words });
    await world.doneByCore(caller, erasure);
    const { found } = await searchEverything(world.contacts.core.database, organizationId, [mark]);
    expect(found).toEqual([]);
    expect(await world.read(caller, request)).toMatchObject({
      state: 'rejected',
      corrections: null,
      rejection: { ground: 'other', detail: 'The person was erased.' },
    });
    expect(await world.read(caller, access.body)).toMatchObject({ state: 'rejected', note: null });
    const verified = await caller.patch(`${REQUESTS}/${access.body.id}`, { verification: VERIFICATION });
    expectProblem(verified, 409, 'invalid_state');
    expect(await world.read(caller, done.body)).toMatchObject({ state: 'completed', outcome: null });
    expect(await world.read(caller, waiting.body)).toMatchObject({ state: 'verifying', note: null });
    const blocking = await caller.post(REQUESTS, { type: 'blocking', contact_id });
    expectProblem(blocking, 422, 'reference_not_found');
  });

  it.each([
    ['a rejection', REJECT],
    ['a verification', VERIFY],
  ])('that begins while %s is not committed takes its words', async (_, change) => {
    const { caller } = world.contacts.anOrganization();
    const mark = newId().slice(-10);
    const request = await open(caller, 'rectification');
    const { contact_id } = request;
    const client = new Client({ connectionString: world.contacts.core.database.adminUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(change, [request.id, mark]);
      const erasing = world.erase(caller, { contact_id });
      await eventually(async () => {
        const waiting = await world.contacts.query(WAITING, []);
        expect(waiting).toHaveLength(1);
      });
      await client.query('COMMIT');
      await erasing;
    } finally {
      await client.end();
    }
    const left = await world.read(caller, request);
    expect(left.state).toBe('rejected');
    expect(JSON.stringify(left)).not.toContain(mark);
  });

  it('ends what waits for somebody else when that has let go', async () => {
    const { caller } = world.contacts.anOrganization();
    const request = await open(caller, 'rectification');
    const { core } = world.contacts;
    const clock = jest.spyOn(core.app.app.get(Clock), 'now');
    const later = new Date(Date.now() + 60_000);
    try {
      await behindLock(
        core.database,
        { sql: 'SELECT FROM subject_requests WHERE id = $1 FOR UPDATE', values: [request.id] },
        () => world.erase(caller, { contact_id: request.contact_id }),
        () => clock.mockReturnValue(later),
      );
    } finally {
      clock.mockRestore();
    }
    expect(await world.read(caller, request)).toMatchObject({
      state: 'rejected',
      completed_at: later.toISOString(),
    });
  });

  it('that the release before has begun takes words and ends requests before its receipt', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { database } = world.contacts.core;
    const mark = newId().slice(-10);
    const request = await open(caller, 'rectification');
    const unfinished = await DatabaseFault.in(database, {
      table: 'contact_erasures',
      on: 'UPDATE',
      when: `NEW.organization_id = '${organizationId}' AND NEW.step = 'receipt'`,
    });
    const erasure = await world.erase(caller, { contact_id: request.contact_id });
    await eventually(async () => expect(await unfinished.tries()).toBeGreaterThan(0), { within: 30_000 });
    await world.contacts.query(LEFT_OPEN, [
      request.id,
      mark,
      JSON.stringify([{ field: 'other', value: mark }]),
    ]);
    await unfinished.mend();
    await world.doneByCore(caller, erasure);
    const { found } = await searchEverything(database, organizationId, [mark]);
    expect(found).toEqual([]);
    expect(await world.read(caller, request)).toMatchObject({
      state: 'rejected',
      rejection: { ground: 'other', detail: 'The person was erased.' },
    });
  }, 60_000);

  it('that begins while requests of the same person are opened and completed leaves nothing of them', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const mark = newId().slice(-10);
    const first = await open(caller, 'opposition', { verification: VERIFICATION });
    const { contact_id } = first;
    const corrections = [{ field: 'other', value: `other-${mark}` }];
    const opening = Array.from({ length: 6 }, () =>
      caller.post(REQUESTS, { type: 'rectification', contact_id, corrections, note: `note-${mark}` }),
    );
    const [erasure, completed, ...opened] = await Promise.all([
      world.erase(caller, { contact_id }),
      complete(caller, first, `outcome-${mark}`),
      ...opening,
    ]);
    expect([200, 409]).toContain(completed.status);
    for (const { status } of opened) expect([202, 422]).toContain(status);
    await world.doneByCore(caller, erasure);
    const { found } = await searchEverything(world.contacts.core.database, organizationId, [mark]);
    expect(found).toEqual([]);
  });
});
