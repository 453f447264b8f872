import { PERMISSIONS } from '@customer-platform/permissions';
import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { accepted, anIdentify, START_MS } from '../../core.fixture.js';
import { at, ContactWorld } from '../contacts/contact.fixture.js';
import type { ContactDto } from '../contacts/contact.dto.js';
import { merge, undo } from '../merges/merge.fixture.js';
import { maskSignal, scoreOf } from './signals.js';
import type { MergeSuggestionDto } from './suggestion.dto.js';

const SUGGESTIONS = '/v1/core/merge-suggestions';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

async function suggestions(caller: Caller, query = ''): Promise<MergeSuggestionDto[]> {
  const answer = await caller.get<{ data: MergeSuggestionDto[] }>(`${SUGGESTIONS}${query}`);
  expectStatus(answer, 200);
  return answer.body.data;
}

/** Identifies and waits until it is processed. */
async function identify(caller: Caller, externalId: string, body: object): Promise<void> {
  const { event_id: id } = await accepted(
    caller,
    anIdentify({ external_id: externalId, traits: {}, ...body }),
    '/v1/core/identify',
  );
  await eventually(async () => {
    expect(await world.query('SELECT 1 FROM events WHERE id = $1', [id])).toHaveLength(1);
  });
}

const contactOf = async (caller: Caller, externalId: string): Promise<ContactDto> => {
  const { body } = await caller.get<{ data: ContactDto[] }>(`/v1/core/contacts?external_id=${externalId}`);
  const [contact] = body.data;
  if (!contact) throw new Error(`there is no contact ${externalId}`);
  return contact;
};

describe('GET /v1/core/merge-suggestions', () => {
  it('suggests two contacts that claim one value; neither is merged, nor does the event fail', async () => {
    const { caller } = world.anOrganization();
    const owner = await world.created(caller, { external_id: 'a', email: 'ana@example.com' });
    await identify(caller, 'b', { traits: { email: 'ANA@example.com' } });
    const claimant = await contactOf(caller, 'b');
    expect(claimant.email).toBe('ANA@example.com');
    const [suggestion, ...more] = await suggestions(caller);
    expect(more).toEqual([]);
    expect(suggestion).toMatchObject({
      contact_ids: [owner.id, claimant.id].sort(),
      suggested_survivor_id: owner.id,
      score: 0.8,
      reasons: [{ signal: 'email', masked: 'a***@example.com' }],
      state: 'open',
    });
    const device = { identities: [{ type: 'device_id', value: 'tablet-7' }] };
    await identify(caller, 'a', device);
    await identify(caller, 'b', device);
    await identify(caller, 'b', device);
    expect(await suggestions(caller)).toMatchObject([
      {
        id: suggestion?.id,
        score: 0.86,
        reasons: [{ signal: 'email' }, { signal: 'device_id', masked: '***et-7' }],
      },
    ]);
  });

  it('proposes the one with an external id as survivor, then the older', async () => {
    const { caller } = world.anOrganization();
    const older = await world.created(caller, { external_id: null, email: 'ana@example.com' });
    await identify(caller, 'b', { traits: { email: 'ana@example.com' } });
    const [suggestion] = await suggestions(caller);
    expect(suggestion?.suggested_survivor_id).toBe((await contactOf(caller, 'b')).id);
    expect(suggestion?.contact_ids).toContain(older.id);
  });

  it('a value on more than five contacts is no signal, on five it is', async () => {
    const { caller } = world.anOrganization();
    const shared = { traits: { phone: '+56912345678' } };
    for (const externalId of ['a', 'b', 'c', 'd', 'e']) await identify(caller, externalId, shared);
    expect((await suggestions(caller, '?state=open')).map(({ score }) => score)).toEqual(Array(4).fill(0.6));
    await identify(caller, 'f', shared);
    expect(await suggestions(caller, '?state=open')).toEqual([]);
    const stale = await suggestions(caller, '?state=stale');
    expect(stale.map(({ score, reasons }) => [score, reasons])).toEqual(Array(4).fill([0, []]));
    await identify(caller, 'g', shared);
    expect(await suggestions(caller)).toHaveLength(4);
  });

  it('counts only contacts that are there: merged and deleted ones claim a value no more', async () => {
    const { caller } = world.anOrganization();
    const shared = { traits: { phone: '+56912345678' } };
    for (const externalId of ['a', 'b', 'c', 'd', 'e']) await identify(caller, externalId, shared);
    await caller.delete(at(await contactOf(caller, 'b')));
    await merge(caller, await contactOf(caller, 'd'), await contactOf(caller, 'c'));
    for (const externalId of ['f', 'g']) await identify(caller, externalId, shared);
    const f = await contactOf(caller, 'f');
    expect(await suggestions(caller, `?state=open&contact_id=${f.id}`)).toMatchObject([{ score: 0.6 }]);
    expect(await suggestions(caller, '?state=open')).toHaveLength(4);
    await identify(caller, 'h', shared);
    expect(await suggestions(caller, '?state=open')).toEqual([]);
  });

  it('is merged with the pair, and dismissed for good by the undo', async () => {
    const { caller } = world.anOrganization();
    const owner = await world.created(caller, { external_id: 'a', email: 'ana@example.com' });
    await identify(caller, 'b', { traits: { email: 'ana@example.com' } });
    const other = await contactOf(caller, 'b');
    const done = await merge(caller, owner, other);
    expect(await suggestions(caller)).toMatchObject([{ state: 'merged' }]);
    await undo(caller, done);
    expect(await suggestions(caller)).toMatchObject([{ state: 'dismissed' }]);
    await identify(caller, 'b', { traits: { email: 'ana@example.com' } });
    expect(await suggestions(caller)).toMatchObject([{ state: 'dismissed' }]);
    const [one, two] = [await world.created(caller), await world.created(caller, { phone: '+56912345678' })];
    await undo(caller, await merge(caller, one, two));
    await identify(caller, one.external_id ?? '', { traits: { phone: '+56912345678' } });
    expect(await suggestions(caller, `?contact_id=${one.id}`)).toMatchObject([
      { state: 'dismissed', reasons: [] },
    ]);
  });

  it('is stale while one of the two is soft-deleted or merged elsewhere', async () => {
    const { caller } = world.anOrganization();
    const owner = await world.created(caller, { external_id: 'a', email: 'ana@example.com' });
    await identify(caller, 'b', { traits: { email: 'ana@example.com' } });
    const [other, third] = [await contactOf(caller, 'b'), await world.created(caller)];
    await caller.delete(at(owner));
    expect(await suggestions(caller)).toMatchObject([{ state: 'stale' }]);
    await caller.post(at(owner, '/restore'));
    expect(await suggestions(caller)).toMatchObject([{ state: 'open' }]);
    await merge(caller, third, other);
    expect(await suggestions(caller, '?state=stale')).toHaveLength(1);
  });

  it('is filtered and sorted, a merged id meaning its survivor', async () => {
    const { caller } = world.anOrganization();
    for (const [n, traits] of [
      ['1', { email: 'one@example.com' }],
      ['2', { phone: '+56912345678' }],
    ] as const) {
      await identify(caller, `a${n}`, { traits });
      await identify(caller, `b${n}`, { traits });
    }
    const [a1, b2] = [await contactOf(caller, 'a1'), await contactOf(caller, 'b2')];
    expect((await suggestions(caller)).map(({ score }) => score)).toEqual([0.8, 0.6]);
    expect((await suggestions(caller, '?sort=score')).map(({ score }) => score)).toEqual([0.6, 0.8]);
    expect((await suggestions(caller, '?sort=-created_at')).map(({ score }) => score)).toEqual([0.6, 0.8]);
    expect(await suggestions(caller, '?score[gte]=0.7')).toHaveLength(1);
    expect(await suggestions(caller, `?contact_id=${a1.id}`)).toMatchObject([{ score: 0.8 }]);
    expect(await suggestions(caller, `?contact_id[in]=${a1.id},${b2.id}`)).toHaveLength(2);
    const old = await world.created(caller);
    await merge(caller, a1, old);
    expect(await suggestions(caller, `?contact_id=${old.id}`)).toMatchObject([{ score: 0.8 }]);
    expectProblem(await caller.get(`${SUGGESTIONS}?reasons=email`), 400, 'unknown_parameter');
    const page = await caller.get<{ page: { next_cursor: string } }>(`${SUGGESTIONS}?limit=1`);
    const rest = await suggestions(caller, `?limit=1&cursor=${page.body.page.next_cursor}`);
    expect(rest.map(({ score }) => score)).toEqual([0.6]);
  });

  it('needs core.contacts.merge, and shows nothing of another organization', async () => {
    const { id, caller } = world.anOrganization();
    await identify(caller, 'a', { traits: { email: 'ana@example.com' } });
    await identify(caller, 'b', { traits: { email: 'ana@example.com' } });
    const others = PERMISSIONS.filter((permission) => permission !== 'core.contacts.merge');
    expectProblem(await world.core.app.as(id, others).get(SUGGESTIONS), 403, 'permission_denied');
    expect(await suggestions(world.core.app.as(id, ['core.contacts.merge']))).toHaveLength(1);
    expect(await suggestions(world.anOrganization().caller)).toEqual([]);
  });
});

describe('signals', () => {
  it('weigh together, and are shown masked', () => {
    expect(scoreOf([])).toBe(0);
    expect(scoreOf([{ signal: 'email' }, { signal: 'phone' }])).toBe(0.92);
    expect(maskSignal('email', 'ana@example.com')).toBe('a***@example.com');
    expect(maskSignal('phone', '+56912345678')).toBe('***5678');
    expect(maskSignal('device_id', 'abc')).toBe('***c');
  });
});
