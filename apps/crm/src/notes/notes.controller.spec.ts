import { newId } from '@customer-platform/database';
import {
  anOrganization,
  expectProblem,
  expectStatus,
  itBehavesLikeASoftDeletableResource,
  kafkaProbe,
  type Caller,
} from '@customer-platform/testing';
import { startCrm, type Behaviour, type TestCrm } from '../crm.fixture.js';
import type { NoteDto } from './note.dto.js';

const NOTES = '/v1/crm/notes';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm({ events: true });
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
});

itBehavesLikeASoftDeletableResource({
  app: () => crm.app,
  path: NOTES,
  permissions: {
    read: 'crm.notes.read',
    create: 'crm.notes.create',
    update: 'crm.notes.update',
    delete: 'crm.notes.delete',
    purge: 'crm.notes.purge',
  },
  body: (number, organizationId) => ({
    contact_id: crm.aContact(organizationId).id,
    body: `Note ${number}`,
  }),
  patch: (number) => ({ body: `Changed ${number}` }),
});

interface World {
  organizationId: string;
  caller: Caller;
}

function aWorld(): World {
  const organizationId = anOrganization().id;
  const permissions = ['create', 'read', 'update', 'delete', 'purge'] as const;
  return {
    organizationId,
    caller: crm.app.as(
      organizationId,
      permissions.map((action) => `crm.notes.${action}` as const),
    ),
  };
}

async function aNote(caller: Caller, contactId: string, override: object = {}): Promise<NoteDto> {
  const answer = await caller.post<NoteDto>(NOTES, { contact_id: contactId, body: 'A note', ...override });
  expectStatus(answer, 201);
  return answer.body;
}

async function idsOf(caller: Caller, query: string): Promise<string[]> {
  const answer = await caller.get<{ data: NoteDto[] }>(`${NOTES}${query}`);
  expectStatus(answer, 200);
  return answer.body.data.map(({ id }) => id);
}

describe('POST /v1/crm/notes', () => {
  it('keeps the text as sent, and names the caller as the author', async () => {
    const { caller, organizationId } = aWorld();
    const { id } = crm.aContact(organizationId);
    const body = ' <b>Ñandú</b>\r\n\t😀 e\u0301 ';
    const note = await aNote(caller, id, { body });
    expect(note).toEqual({
      id: expect.any(String) as unknown,
      contact_id: id,
      body,
      pinned: false,
      author: { type: 'api_key', id: expect.any(String) as unknown },
      created_at: note.updated_at,
      updated_at: note.created_at,
      deleted_at: null,
    });
    const [entry] = await crm.database.query(
      'SELECT action, actor_id, changed_fields FROM audit_entries WHERE organization_id = $1 AND resource_id = $2',
      [organizationId, note.id],
    );
    expect(entry).toMatchObject({ action: 'crm.notes.create', actor_id: note.author.id });
  });

  it.each([
    ['/contact_id', 'required', { contact_id: undefined }],
    ['/contact_id', 'invalid_format', { contact_id: '12' }],
    ['/body', 'required', { body: undefined }],
    ['/body', 'wrong_type', { body: null }],
    ['/body', 'too_short', { body: '' }],
    ['/body', 'too_long', { body: 'x'.repeat(10_001) }],
    ['/pinned', 'wrong_type', { pinned: 'yes' }],
    ['/author', 'unknown_field', { author: { type: 'user', id: 'x' } }],
  ])('400: %s %s', async (pointer, code, override) => {
    const { caller, organizationId } = aWorld();
    const body = { contact_id: crm.aContact(organizationId).id, body: 'A note', ...override };
    const problem = expectProblem(await caller.post(NOTES, body), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
    expect(await idsOf(caller, '')).toEqual([]);
  });

  it('takes 10,000 characters, whatever they weigh', async () => {
    const { caller, organizationId } = aWorld();
    const body = '😀'.repeat(10_000);
    expect((await aNote(caller, crm.aContact(organizationId).id, { body })).body).toBe(body);
  });

  it('on a contact not known here yet: core is asked, once', async () => {
    const { caller, organizationId } = aWorld();
    const { id } = crm.aContact(organizationId);
    await aNote(caller, id.toUpperCase());
    await aNote(caller, id);
    expect(crm.modules.lookups).toEqual([{ ids: [id] }]);
  });

  it.each<[string, Behaviour]>([
    ['is slow', 'slowly'],
    ['hangs up', 'hangs up'],
    ['fails', { status: 500 }],
  ])('on a contact not known here, and core %s: 503, nothing written', async (_, behaviour) => {
    const { caller, organizationId } = aWorld();
    const { id } = crm.aContact(organizationId);
    crm.modules.lookup = behaviour;
    const headers = { 'Idempotency-Key': newId() };
    const body = { contact_id: id, body: 'A note' };
    expectProblem(await caller.post(NOTES, body, headers), 503, 'dependency_unavailable');
    expect(await idsOf(caller, '')).toEqual([]);
    crm.modules.lookup = 'well';
    expectStatus(await caller.post(NOTES, body, headers), 201);
  });

  it('on a merged contact: the note is the survivor’s', async () => {
    const { caller, organizationId } = aWorld();
    const survivor = crm.aContact(organizationId).id;
    const merged = crm.aContact(organizationId, { state: 'merged', merged_into: survivor }).id;
    expect((await aNote(caller, merged)).contact_id).toBe(survivor);
  });

  it('on a soft-deleted contact, or one merged into such: 422 reference_deleted', async () => {
    const { caller, organizationId } = aWorld();
    const deleted = crm.aContact(organizationId, { state: 'deleted' }).id;
    const merged = crm.aContact(organizationId, { state: 'merged', merged_into: deleted }).id;
    for (const contact_id of [deleted, merged]) {
      const problem = expectProblem(
        await caller.post(NOTES, { contact_id, body: 'A note' }),
        422,
        'reference_deleted',
      );
      expect(problem.errors).toEqual([
        expect.objectContaining({ pointer: '/contact_id', code: 'reference_deleted' }),
      ]);
    }
  });

  it('on a foreign, an erased contact or none: the same 422 reference_not_found', async () => {
    const { caller, organizationId } = aWorld();
    const foreign = crm.aContact(newId()).id;
    const erased = crm.aContact(organizationId, { state: 'erased' }).id;
    const bodies = [];
    for (const contact_id of [foreign, erased, newId()]) {
      const answer = await caller.post(NOTES, { contact_id, body: 'A note' });
      const { correlation_id: _, ...rest } = expectProblem(answer, 422, 'reference_not_found');
      bodies.push(rest);
    }
    expect(bodies[0]?.errors).toEqual([
      expect.objectContaining({ pointer: '/contact_id', code: 'reference_not_found' }),
    ]);
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[2]).toEqual(bodies[0]);
  });
});

describe('PATCH /v1/crm/notes/{id}', () => {
  it('changes text and pin, by themselves', async () => {
    const { caller, organizationId } = aWorld();
    const note = await aNote(caller, crm.aContact(organizationId).id);
    const pinned = await caller.patch<NoteDto>(`${NOTES}/${note.id}`, { pinned: true });
    expect(pinned.body).toMatchObject({ pinned: true, body: 'A note', author: note.author });
    const changed = await caller.patch<NoteDto>(`${NOTES}/${note.id}`, { body: 'Other' });
    expect(changed.body).toMatchObject({ pinned: true, body: 'Other', contact_id: note.contact_id });
  });

  it('400 immutable for the contact, the same one too', async () => {
    const { caller, organizationId } = aWorld();
    const { id, contact_id } = await aNote(caller, crm.aContact(organizationId).id);
    const problem = expectProblem(
      await caller.patch(`${NOTES}/${id}`, { contact_id }),
      400,
      'validation_failed',
    );
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/contact_id', code: 'immutable' })]);
  });

  it('two changes at once under one tag: one passes, the other is 412', async () => {
    const { caller, organizationId } = aWorld();
    const { id } = await aNote(caller, crm.aContact(organizationId).id);
    const etag = (await caller.get(`${NOTES}/${id}`)).headers.get('etag') ?? '';
    const answers = await Promise.all(
      ['one', 'two'].map((body) => caller.patch(`${NOTES}/${id}`, { body }, { 'If-Match': etag })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  });
});

describe('GET /v1/crm/notes', () => {
  it('filters by contact, by several, and by a merged contact’s id', async () => {
    const { caller, organizationId } = aWorld();
    const [one, two, three] = [1, 2, 3].map(() => crm.aContact(organizationId).id);
    const merged = crm.aContact(organizationId, { state: 'merged', merged_into: String(one) }).id;
    const notes = [];
    for (const id of [one, two, three]) notes.push((await aNote(caller, String(id))).id);
    const [ofOne, ofTwo] = notes;
    expect(await idsOf(caller, `?contact_id=${String(one)}`)).toEqual([ofOne]);
    expect(await idsOf(caller, `?contact_id=${merged}`)).toEqual([ofOne]);
    expect(await idsOf(caller, `?contact_id[in]=${merged},${String(two)}`)).toEqual([ofTwo, ofOne]);
    expect(await idsOf(caller, `?contact_id=${newId()}`)).toEqual([]);
    const foreign = crm.aContact(newId()).id;
    expect(await idsOf(caller, `?contact_id[in]=${foreign},${String(two)}`)).toEqual([ofTwo]);
  });

  it('filters by author and pin, sorts by both times', async () => {
    const { caller, organizationId } = aWorld();
    const { id: contact } = crm.aContact(organizationId);
    const first = await aNote(caller, contact, { pinned: true });
    const other = crm.app.as(organizationId, ['crm.notes.create']);
    const second = await aNote(other, contact);
    expect(second.author.id).not.toBe(first.author.id);
    expect(await idsOf(caller, `?author_id=${second.author.id}`)).toEqual([second.id]);
    expect(await idsOf(caller, '?pinned=true')).toEqual([first.id]);
    expect(await idsOf(caller, '?pinned=false')).toEqual([second.id]);
    await caller.patch(`${NOTES}/${first.id}`, { body: 'Later' });
    expect(await idsOf(caller, '?sort=-updated_at')).toEqual([first.id, second.id]);
    expect(await idsOf(caller, '?sort=created_at')).toEqual([first.id, second.id]);
    const { updated_at: since } = (await caller.get<NoteDto>(`${NOTES}/${first.id}`)).body;
    expect(await idsOf(caller, `?updated_at[gte]=${since}`)).toEqual([first.id]);
  });

  it.each(['contact_id[ne]=x', 'contact_id=x', 'author_id[prefix]=a', 'pinned=maybe', 'created_at[in]=x'])(
    '400 invalid_filter: %s',
    async (query) => {
      const { caller } = aWorld();
      expectProblem(await caller.get(`${NOTES}?${query}`), 400, 'invalid_filter');
    },
  );

  it('is not searched by text', async () => {
    const { caller } = aWorld();
    expectProblem(await caller.get(`${NOTES}?body=x`), 400, 'unknown_parameter');
    expectProblem(await caller.get(`${NOTES}?sort=body`), 400, 'invalid_sort');
  });
});

describe('crm.note events', () => {
  it('tell every change once, in order, with the contact as key, and never the text', async () => {
    const probe = kafkaProbe(crm.app);
    probe.collect('crm');
    const { caller, organizationId } = aWorld();
    const { id, contact_id } = await aNote(caller, crm.aContact(organizationId).id, { body: 'top secret' });
    const at = `${NOTES}/${id}`;
    await caller.patch(at, { pinned: true, body: 'very secret' });
    await caller.patch(at, { pinned: true, body: 'very secret' });
    await caller.delete(at);
    await caller.delete(at);
    await caller.post(`${at}/restore`);
    await caller.delete(at);
    await caller.delete(`${at}/purge`);
    const created = ['contact_id', 'body', 'pinned'];
    const expected = {
      created: [created],
      updated: [['body', 'pinned']],
      deleted: [['deleted_at'], ['deleted_at']],
      restored: [['deleted_at']],
      purged: [[]],
    };
    const verbs = Object.keys(expected) as (keyof typeof expected)[];
    await probe.expectEvents('crm.note.purged.v1', organizationId, 1);
    for (const verb of verbs) {
      const events = probe.events(`crm.note.${verb}.v1`, organizationId);
      expect(events.map(({ data }) => data)).toEqual(
        expected[verb].map((changed) => ({ id, contact_id, changed })),
      );
      expect(JSON.stringify(events)).not.toContain('secret');
    }
    const entries = await crm.database.query(
      'SELECT action, changed_fields FROM audit_entries WHERE organization_id = $1 ORDER BY id',
      [organizationId],
    );
    expect(entries).toEqual(
      [
        ['create', created],
        ['update', ['body', 'pinned']],
        ['delete', ['deleted_at']],
        ['restore', ['deleted_at']],
        ['delete', ['deleted_at']],
        ['purge', []],
      ].map(([action, changed_fields]) => ({ action: `crm.notes.${String(action)}`, changed_fields })),
    );
  });
});
