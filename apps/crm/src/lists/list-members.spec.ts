import fc from 'fast-check';
import { newId } from '@customer-platform/database';
import { expectProblem, expectStatus } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import { LISTS, ListWorld } from './lists.fixture.js';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
});

const of = ({ id }: { id: string }): string => `${LISTS}/${id}/members`;

describe('POST /v1/crm/lists/{id}/members', () => {
  it('adds a thousand, the good ones though others fail; a repeat adds none', async () => {
    const world = new ListWorld(crm);
    const list = await world.list();
    const good = await world.contacts(994);
    const survivor = good[0] ?? '';
    const deleted = crm.aContact(world.organizationId, { state: 'deleted' }).id;
    const merged = crm.aContact(world.organizationId, { state: 'merged', merged_into: survivor }).id;
    const erased = crm.aContact(world.organizationId, { state: 'erased' }).id;
    const foreign = crm.aContact(newId()).id;
    const given = [foreign, ...good, deleted, merged, erased, survivor.toUpperCase(), newId()];
    const answer = await world.add(list, given);
    expectStatus(answer, 200);
    const rejected = [
      { index: 0, contact_id: foreign, code: 'reference_not_found' },
      { index: 995, contact_id: deleted, code: 'reference_deleted' },
      { index: 997, contact_id: erased, code: 'reference_not_found' },
      { index: 999, contact_id: given[999], code: 'reference_not_found' },
    ];
    expect(answer.body).toEqual({ added: 994, unchanged: 2, rejected });
    expect((await world.add(list, given)).body).toEqual({ added: 0, unchanged: 996, rejected });
    expect(await world.count(list)).toBe(994);
    const [member] = await world.members(list, `?contact_id=${merged}`);
    expect(member).toEqual({
      contact_id: survivor,
      added_at: expect.stringMatching(/Z$/) as unknown,
      added_by: { type: 'api_key', id: expect.any(String) as unknown },
    });
  });

  it('answers the same to the same Idempotency-Key', async () => {
    const world = new ListWorld(crm);
    const [list, contacts] = [await world.list(), await world.contacts(2)];
    const headers = { 'Idempotency-Key': newId() };
    const first = await world.add(list, contacts, headers);
    expect((await world.add(list, contacts, headers)).body).toEqual(first.body);
  });

  it('all bad: 422 by what they share, every one named', async () => {
    const world = new ListWorld(crm);
    const list = await world.list();
    const deleted = crm.aContact(world.organizationId, { state: 'deleted' }).id;
    const gone = expectProblem(await world.add(list, [deleted]), 422, 'reference_deleted');
    expect(gone.errors).toEqual([
      expect.objectContaining({ pointer: '/contact_ids/0', code: 'reference_deleted' }),
    ]);
    const mixed = expectProblem(await world.add(list, [deleted, newId()]), 422, 'reference_not_found');
    expect(mixed.errors?.map(({ code }) => code)).toEqual(['reference_deleted', 'reference_not_found']);
    expect(await world.count(list)).toBe(0);
  });

  it.each<[string, string, unknown]>([
    ['/contact_ids', 'required', undefined],
    ['/contact_ids', 'wrong_type', 'x'],
    ['/contact_ids', 'too_short', []],
    ['/contact_ids', 'too_long', Array.from({ length: 1_001 }, () => newId())],
    ['/contact_ids/1', 'invalid_format', [newId(), '12']],
    ['/contact_ids/0', 'wrong_type', [12]],
  ])('400 for all: %s %s', async (pointer, code, contact_ids) => {
    const world = new ListWorld(crm);
    const list = await world.list();
    const problem = expectProblem(
      await world.caller.post(of(list), { contact_ids }),
      400,
      'validation_failed',
    );
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('503, nothing added, when core must be asked and is silent; 404 before that for no list', async () => {
    const world = new ListWorld(crm);
    const list = await world.list();
    crm.modules.lookup = { status: 500 };
    const known = await world.contacts(1);
    expectProblem(await world.add(list, [...known, newId()]), 503, 'dependency_unavailable');
    expect(await world.count(list)).toBe(0);
    expectProblem(await world.add({ id: newId() }, [newId()]), 404, 'not_found');
  });

  it('409 list_full beyond 100,000, none added; what fits goes in, whoever comes at once', async () => {
    const world = new ListWorld(crm);
    const list = await world.list();
    await crm.database.query(
      `INSERT INTO list_members
         (organization_id, list_id, origin_contact_id, contact_id, shown, added_at, added_by_type, added_by_id)
       SELECT $1, $2, id, id, true, now() + n * interval '1 ms', 'api_key', 'x'
         FROM (SELECT n, gen_random_uuid() AS id FROM generate_series(1, 99990) AS n) AS made`,
      [world.organizationId, list.id],
    );
    await crm.database.query('UPDATE lists SET member_count = 99990 WHERE organization_id = $1', [
      world.organizationId,
    ]);
    const answers = await Promise.all([6, 6, 6].map(async (n) => world.add(list, await world.contacts(n))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    for (const answer of answers.filter(({ status }) => status === 409))
      expect(expectProblem(answer, 409, 'list_full')).toMatchObject({ limit: 100_000 });
    expectStatus(await world.add(list, await world.contacts(4)), 200);
    expectProblem(await world.add(list, await world.contacts(1)), 409, 'list_full');
    expect(await world.count(list)).toBe(100_000);
    expect(await world.countedRows(list)).toEqual({ shown: 100_000, contacts: 100_000 });
    let query = '?limit=200&sort=added_at';
    const seen = new Set<string>();
    for (let page = 0; page < 3; page += 1) {
      const { body } = await world.caller.get<{
        data: { contact_id: string }[];
        page: { next_cursor: string };
      }>(of(list) + query);
      for (const { contact_id: id } of body.data) seen.add(id);
      query = `?limit=200&sort=added_at&cursor=${body.page.next_cursor}`;
    }
    expect(seen.size).toBe(600);
  });
});

describe('DELETE /v1/crm/lists/{id}/members', () => {
  it('by the query, by a body or by the path: 204, members or not', async () => {
    const world = new ListWorld(crm);
    const [list, contacts] = [await world.list(), await world.contacts(5)];
    const [a = '', b = '', c = '', d = '', e = ''] = contacts;
    await world.add(list, contacts);
    expectStatus(await world.caller.delete(`${of(list)}?contact_id=${a}&contact_id=${newId()}`), 204);
    expectStatus(await world.caller.delete(of(list), { body: { contact_ids: [b.toUpperCase(), a] } }), 204);
    expectStatus(await world.caller.delete(`${of(list)}/${c}`), 204);
    expectStatus(await world.caller.delete(`${of(list)}/${c}`), 204);
    expect((await world.idsOn(list)).sort()).toEqual([d, e].sort());
    expect(await world.count(list)).toBe(2);
  });

  it.each<[string, string, object]>([
    ['no id', '', {}],
    ['an empty list', '', { body: { contact_ids: [] } }],
    ['an empty id', '?contact_id=', {}],
    ['no UUID', '?contact_id=all', {}],
    ['no UUID in a body', '', { body: { contact_ids: ['all'] } }],
    ['101 in the query', `?${Array.from({ length: 101 }, () => `contact_id=${newId()}`).join('&')}`, {}],
  ])('400 for %s: never all', async (_, query, options) => {
    const world = new ListWorld(crm);
    const [list, contacts] = [await world.list(), await world.contacts(2)];
    await world.add(list, contacts);
    expectProblem(await world.caller.delete(of(list) + query, options), 400, 'validation_failed');
    expectProblem(
      await world.caller.delete(`${of(list)}?ids=${contacts[0] ?? ''}`),
      400,
      'unknown_parameter',
    );
    expect(await world.count(list)).toBe(2);
  });

  it('a merged contact is taken off as its survivor', async () => {
    const world = new ListWorld(crm);
    const [list, [survivor = '', merged = '']] = [await world.list(), await world.contacts(2)];
    await world.add(list, [merged]);
    await world.merge(survivor, merged);
    expectStatus(await world.caller.delete(`${of(list)}/${merged}`), 204);
    expect(await world.countedRows(list)).toEqual({ shown: 0, contacts: 0 });
  });
});

describe('a soft-deleted list', () => {
  it('shows its members, and changes them no more: 409 resource_deleted', async () => {
    const world = new ListWorld(crm);
    const [list, [contact = '']] = [await world.list(), await world.contacts(1)];
    await world.add(list, [contact]);
    await world.caller.delete(`${LISTS}/${list.id}`);
    expect(await world.idsOn(list)).toEqual([contact]);
    const refused = [
      await world.add(list, [contact]),
      await world.caller.delete(`${of(list)}?contact_id=${contact}`),
      await world.caller.delete(`${of(list)}/${contact}`),
    ];
    for (const answer of refused) expectProblem(answer, 409, 'resource_deleted');
    await world.caller.post(`${LISTS}/${list.id}/restore`);
    expectStatus(await world.caller.delete(`${of(list)}/${contact}`), 204);
  });
});

describe('member_count', () => {
  it('is exact, whatever is added and taken off at once', async () => {
    const world = new ListWorld(crm);
    const [list, contacts] = [await world.list(), await world.contacts(40)];
    await Promise.all(
      Array.from({ length: 24 }, (_, at) => {
        const some = contacts.filter((_id, index) => (index * 7 + at) % 3 > 0);
        return at % 3 === 2
          ? world.caller.delete(of(list), { body: { contact_ids: some } })
          : world.add(list, some.toReversed());
      }),
    );
    const { shown } = await world.countedRows(list);
    expect(await world.count(list)).toBe(shown);
    expect(await world.idsOn(list)).toHaveLength(shown);
  });

  it('and the members follow merges and their undo, against a model', async () => {
    const world = new ListWorld(crm);
    const step = fc.record({
      act: fc.constantFrom('add', 'remove', 'merge', 'undo'),
      at: fc.nat({ max: 3 }),
      to: fc.nat({ max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const [list, contacts] = [await world.list(), await world.contacts(4)];
        // Who was added, by the contact they were added as, in the order of adding; and who stands for whom.
        let rows: string[] = [];
        const into = new Map<string, string>();
        const endOf = (id: string): string => {
          const next = into.get(id);
          return next === undefined ? id : endOf(next);
        };
        for (const { act, at, to } of steps) {
          const [one = '', other = ''] = [contacts[at], contacts[to]];
          const end = endOf(one);
          if (act === 'add') {
            if (!rows.some((row) => endOf(row) === end)) rows.push(end);
            await world.add(list, [one]);
          } else if (act === 'remove') {
            rows = rows.filter((row) => endOf(row) !== end);
            expectStatus(await world.caller.delete(`${of(list)}/${one}`), 204);
          } else if (act === 'merge') {
            if (into.has(one) || endOf(other) === one) continue;
            await world.merge(endOf(other), one);
            into.set(one, endOf(other));
          } else {
            const survivor = into.get(one);
            if (survivor === undefined || into.has(survivor)) continue;
            into.delete(one);
            await world.merge(survivor, one, 'unmerged');
          }
          const expected = [...new Set(rows.map(endOf))].sort();
          expect((await world.idsOn(list)).sort()).toEqual(expected);
          expect(await world.count(list)).toBe(expected.length);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('that is undone parts the members of a full list, too', async () => {
    const world = new ListWorld(crm);
    const list = await world.list();
    const [survivor = '', merged = ''] = await world.contacts(2);
    await world.add(list, [merged, survivor]);
    await world.merge(survivor, merged);
    await crm.database.query('UPDATE lists SET member_count = 100000 WHERE organization_id = $1', [
      world.organizationId,
    ]);
    await world.merge(survivor, merged, 'unmerged');
    expect((await world.idsOn(list)).sort()).toEqual([merged, survivor].sort());
    expect(await world.count(list)).toBe(100_001);
    // Nothing is added by a repeat.
    const again = await world.add(list, [merged]);
    expect(again).toMatchObject({ status: 200, body: { added: 0, unchanged: 1 } });
  });

  it('of a double membership the earlier stays, and both are back after the undo', async () => {
    const world = new ListWorld(crm);
    const list = await world.list();
    const [survivor = '', merged = ''] = await world.contacts(2);
    await world.add(list, [merged]);
    await world.add(list, [survivor]);
    const before = await world.members(list);
    await world.merge(survivor, merged);
    expect(await world.members(list)).toEqual([{ ...before[0], contact_id: survivor }]);
    expect(await world.count(list)).toBe(1);
    await world.merge(survivor, merged, 'unmerged');
    expect(await world.members(list)).toEqual(before);
    expect(await world.count(list)).toBe(2);
  });
});
