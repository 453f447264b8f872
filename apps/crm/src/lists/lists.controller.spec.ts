import { newId } from '@customer-platform/database';
import {
  anOrganization,
  expectProblem,
  expectStatus,
  itBehavesLikeASoftDeletableResource,
  kafkaProbe,
} from '@customer-platform/testing';
import { startCrm, type Behaviour, type TestCrm } from '../crm.fixture.js';
import type { ListDto } from './list.dto.js';
import { LISTS, ListWorld } from './lists.fixture.js';

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
  path: LISTS,
  permissions: {
    read: 'crm.lists.read',
    create: 'crm.lists.create',
    update: 'crm.lists.update',
    delete: 'crm.lists.delete',
    purge: 'crm.lists.purge',
  },
  body: (number) => ({ name: `List ${String(number)}` }),
  patch: (number) => ({ description: `Changed ${String(number)}` }),
  unique: 'name',
});

describe('POST /v1/crm/lists', () => {
  it('answers what was given, without members', async () => {
    const list = await new ListWorld(crm).list({ name: 'Opening', description: 'Who comes' });
    expect(list).toMatchObject({ name: 'Opening', description: 'Who comes', member_count: 0 });
    expect((await new ListWorld(crm).list()).description).toBeNull();
  });

  it.each<[string, string, object]>([
    ['/name', 'required', { name: undefined }],
    ['/name', 'too_short', { name: '' }],
    ['/name', 'too_long', { name: 'x'.repeat(101) }],
    ['/description', 'too_long', { description: 'x'.repeat(1_001) }],
    ['/member_count', 'unknown_field', { member_count: 1 }],
  ])('400: %s %s', async (pointer, code, override) => {
    const answer = await new ListWorld(crm).caller.post(LISTS, { name: 'A list', ...override });
    const problem = expectProblem(answer, 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('409 duplicate_value for a name that differs in case only, also by a PATCH', async () => {
    const world = new ListWorld(crm);
    const [, other] = [await world.list({ name: 'Ñandú' }), await world.list()];
    expectProblem(await world.caller.post(LISTS, { name: 'ñANDÚ' }), 409, 'duplicate_value');
    expectProblem(
      await world.caller.patch(`${LISTS}/${other.id}`, { name: 'ñandú' }),
      409,
      'duplicate_value',
    );
  });

  it('409 limit_reached beyond 1,000', async () => {
    const world = new ListWorld(crm);
    await crm.database.query(
      `INSERT INTO lists (organization_id, id, name, member_count, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'Made ' || n, 0, now(), now() FROM generate_series(1, 999) AS n`,
      [world.organizationId],
    );
    await world.list();
    const problem = expectProblem(await world.caller.post(LISTS, { name: 'More' }), 409, 'limit_reached');
    expect(problem).toMatchObject({ limit: 1_000 });
  });
});

describe('GET /v1/crm/lists', () => {
  it('filters by name and by the contact that it holds; sorts by name', async () => {
    const world = new ListWorld(crm);
    const [b, a] = [await world.list({ name: 'Berlin' }), await world.list({ name: 'Antofagasta' })];
    const [contact = '', other = '', survivor = ''] = await world.contacts(3);
    await world.add(a, [contact]);
    await world.add(b, [contact, other]);
    const idsOf = async (query: string): Promise<string[]> =>
      (await world.caller.get<{ data: ListDto[] }>(`${LISTS}?${query}`)).body.data.map(({ id }) => id);
    expect(await idsOf('name=BERLIN')).toEqual([b.id]);
    expect(await idsOf('name[prefix]=an')).toEqual([a.id]);
    expect(await idsOf('sort=name')).toEqual([a.id, b.id]);
    expect(await idsOf(`contact_id=${contact}`)).toEqual([a.id, b.id]);
    expect(await idsOf(`contact_id=${other}`)).toEqual([b.id]);
    expect(await idsOf(`contact_id=${other}&name[prefix]=a`)).toEqual([]);
    expect(await idsOf(`contact_id=${newId()}`)).toEqual([]);
    await world.merge(survivor, other);
    expect(await idsOf(`contact_id=${other}`)).toEqual([b.id]);
    const { body } = await world.caller.get<{ data: ListDto[]; page: { next_cursor: string } }>(
      `${LISTS}?contact_id=${contact}&limit=1`,
    );
    expect(await idsOf(`contact_id=${contact}&limit=1&cursor=${body.page.next_cursor}`)).toEqual([b.id]);
  });

  it.each(['contact_id=x', 'contact_id[in]=x', 'name[ne]=x'])('400 invalid_filter: %s', async (query) => {
    expectProblem(await new ListWorld(crm).caller.get(`${LISTS}?${query}`), 400, 'invalid_filter');
  });
});

describe('DELETE /v1/crm/lists/{id}/purge', () => {
  async function aDeletedList(world: ListWorld): Promise<ListDto> {
    const list = await world.list();
    await world.add(list, await world.contacts(3));
    await world.caller.delete(`${LISTS}/${list.id}`);
    return list;
  }

  it('takes the memberships with it, once messaging has been asked', async () => {
    const world = new ListWorld(crm);
    const list = await aDeletedList(world);
    expectStatus(await world.caller.delete(`${LISTS}/${list.id}/purge`), 204);
    expect(await world.countedRows(list)).toEqual({ shown: 0, contacts: 0 });
  });

  it('409 resource_referenced while messaging still needs it', async () => {
    const world = new ListWorld(crm);
    const list = await aDeletedList(world);
    const references = [{ module: 'messaging', resource: 'campaigns', count: 2 }];
    crm.modules.references = { status: 200, body: { references } };
    const answer = await world.caller.delete(`${LISTS}/${list.id}/purge`);
    expect(expectProblem(answer, 409, 'resource_referenced')['references']).toEqual(references);
    expect(await world.countedRows(list)).toEqual({ shown: 3, contacts: 3 });
  });

  it.each<[string, Behaviour]>([
    ['fails', { status: 500 }],
    ['answers rubbish', { text: '{}' }],
    ['hangs up', 'hangs up'],
  ])('503, and nothing is removed, when messaging %s', async (_, behaviour) => {
    const world = new ListWorld(crm);
    const list = await aDeletedList(world);
    crm.modules.references = behaviour;
    const answer = await world.caller.delete(`${LISTS}/${list.id}/purge`);
    expectProblem(answer, 503, 'dependency_unavailable');
    expect(await world.members(list)).toHaveLength(3);
  });
});

describe('the members of a list', () => {
  const CALLS = [
    ['POST', '', 'crm.lists.update', (id: string) => ({ contact_ids: [id] })],
    ['GET', '', 'crm.lists.read', () => undefined],
    ['DELETE', '', 'crm.lists.update', (id: string) => ({ contact_ids: [id] })],
    ['DELETE', '/id', 'crm.lists.update', () => undefined],
  ] as const;

  it.each(CALLS)('%s %s needs %s alone, and finds no list of another organization', async (...call) => {
    const [method, suffix, permission, bodyOf] = call;
    const world = new ListWorld(crm);
    const [list, [contact = '']] = [await world.list(), await world.contacts(1)];
    const path = `${LISTS}/${list.id}/members${suffix.replace('id', contact)}`;
    const body = bodyOf(contact);
    const options = body === undefined ? {} : { body };
    const others = (['read', 'create', 'update', 'delete', 'purge'] as const)
      .map((action) => `crm.lists.${action}` as const)
      .filter((each) => each !== permission);
    const without = crm.app.as(world.organizationId, others);
    const refused = expectProblem(await without.call(method, path, options), 403, 'permission_denied');
    expect(refused['permission'] ?? refused.detail).toContain(permission);
    const foreign = crm.app.as(anOrganization().id, [permission]);
    expectProblem(await foreign.call(method, path, options), 404, 'not_found');
    const only = crm.app.as(world.organizationId, [permission]);
    expect((await only.call(method, path, options)).status).toBeLessThan(300);
    expectProblem(await crm.app.with().call(method, path, options), 401, 'missing_credentials');
  });
});

describe('crm.list events', () => {
  it('tell changes of the list, and who comes and goes', async () => {
    const probe = kafkaProbe(crm.app);
    probe.collect('crm');
    const world = new ListWorld(crm);
    const [list, contacts] = [await world.list({ description: 'secret' }), await world.contacts(3)];
    const [one = '', two = '', three = ''] = contacts;
    await world.add(list, [one, two, newId()]);
    await world.add(list, [one, two]);
    await world.add(list, [two, three]);
    await world.caller.delete(`${LISTS}/${list.id}/members`, { body: { contact_ids: [one, newId()] } });
    await world.caller.delete(`${LISTS}/${list.id}/members/${one}`);
    await world.caller.patch(`${LISTS}/${list.id}`, { description: 'very secret' });
    await world.caller.delete(`${LISTS}/${list.id}`);
    await world.caller.delete(`${LISTS}/${list.id}/purge`);
    await probe.expectEvents('crm.list.purged.v1', world.organizationId, 1);
    const told = (type: 'crm.list_members.added.v1' | 'crm.list_members.removed.v1') =>
      probe
        .events(type, world.organizationId)
        .map(({ data }) => ({ list: data.list_id, ids: [...data.contact_ids].sort() }));
    expect(told('crm.list_members.added.v1')).toEqual([
      { list: list.id, ids: [one, two].sort() },
      { list: list.id, ids: [three] },
    ]);
    expect(told('crm.list_members.removed.v1')).toEqual([{ list: list.id, ids: [one] }]);
    const changed = (verb: 'created' | 'updated') =>
      probe.events(`crm.list.${verb}.v1`, world.organizationId).map(({ data }) => data.changed);
    expect(changed('created')).toEqual([['name', 'description']]);
    expect(changed('updated')).toEqual([['description']]);
    const audited = await crm.database.query(
      `SELECT changed_fields FROM audit_entries
        WHERE organization_id = $1 AND action = 'crm.lists.update' ORDER BY id`,
      [world.organizationId],
    );
    expect(audited.map((row) => row['changed_fields'])).toEqual([
      ['members'],
      ['members'],
      ['members'],
      ['description'],
    ]);
  });
});
