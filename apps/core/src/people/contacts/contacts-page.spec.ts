import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { accepted, anIdentify, START_MS } from '../../core.fixture.js';
import { newId } from '@customer-platform/database';
import { CONTACTS, ContactWorld } from './contact.fixture.js';
import type { ContactDto } from './contact.dto.js';
import { OWNERS } from './contacts-page.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

describe('GET /v1/core/contacts', () => {
  const ids = async (caller: Caller, parameters: string): Promise<(string | null)[]> => {
    const answer = await caller.get<{ data: ContactDto[] }>(`${CONTACTS}?${parameters}`);
    expectStatus(answer, 200);
    return answer.body.data.map(({ external_id: id }) => id);
  };

  it('filters by every field, in any form in which values match', async () => {
    const { caller } = world.anOrganization();
    await world.created(caller, {
      external_id: 'a',
      email: 'Ana@Example.com',
      last_name: 'Rojas',
      country: 'PE',
    });
    await world.created(caller, { external_id: 'b', phone: '+56912345678', last_name: 'Soto' });
    await accepted(
      caller,
      anIdentify({ external_id: 'b', identities: [{ type: 'device_id', value: 'tablet' }] }),
      '/v1/core/identify',
    );
    await eventually(async () => {
      expect(await ids(caller, 'identity=device_id:tablet')).toEqual(['b']);
    });
    expect(await ids(caller, 'external_id=a')).toEqual(['a']);
    expect(await ids(caller, 'external_id[in]=a,b,c')).toEqual(['b', 'a']);
    expect(await ids(caller, 'email=ANA@example.COM')).toEqual(['a']);
    expect(await ids(caller, 'email[is_null]=true')).toEqual(['b']);
    expect(await ids(caller, `phone=${encodeURIComponent('+56 9 1234 5678')}`)).toEqual(['b']);
    expect(await ids(caller, 'identity=email:ana@EXAMPLE.com')).toEqual(['a']);
    expect(await ids(caller, 'identity=email:nobody@example.com')).toEqual([]);
    expect(await ids(caller, 'last_name=Rojas')).toEqual(['a']);
    expect(await ids(caller, 'last_name[ne]=Rojas')).toEqual(['b']);
    expect(await ids(caller, 'country=pe')).toEqual(['a']);
    expect(await ids(caller, 'last_seen_at[gte]=2100-01-01T00:00:00Z')).toEqual([]);
    expectProblem(await caller.get(`${CONTACTS}?identity=tablet`), 400, 'invalid_filter');
    expectProblem(await caller.get(`${CONTACTS}?national_id=12345678-5`), 400, 'unknown_parameter');
  });

  it('finds up to a hundred by their ids: none of another organization, a soft-deleted one where those are asked for', async () => {
    const { caller } = world.anOrganization();
    const ana = await world.created(caller, { external_id: 'ana' });
    const ben = await world.created(caller, { external_id: 'ben' });
    await world.created(caller, { external_id: 'eva' });
    const gone = await world.created(caller, { external_id: 'gone' });
    expectStatus(await caller.delete(`${CONTACTS}/${gone.id}`), 204);
    const stranger = await world.created(world.anOrganization().caller, { external_id: 'stranger' });
    const asked = [ana.id, ben.id, gone.id, stranger.id, newId()].join(',');
    expect(await ids(caller, `id=${ana.id}`)).toEqual(['ana']);
    expect(await ids(caller, `id[in]=${asked}`)).toEqual(['ben', 'ana']);
    expect(await ids(caller, `id[in]=${asked}&include_deleted=true`)).toEqual(['gone', 'ben', 'ana']);
    expect(await ids(caller, `id[in]=${asked}&external_id=ana`)).toEqual(['ana']);
    const many = Array.from({ length: 101 }, newId).join(',');
    expectProblem(await caller.get(`${CONTACTS}?id[in]=${many}`), 400, 'invalid_filter');
    expectProblem(await caller.get(`${CONTACTS}?id[in]=nobody`), 400, 'invalid_filter');
  });

  it('finds a soft-deleted contact by an identity that another has now', async () => {
    const { caller } = world.anOrganization();
    const former = await world.created(caller, { external_id: 'former', email: 'ana@example.com' });
    expectStatus(await caller.delete(`${CONTACTS}/${former.id}`), 204);
    await world.created(caller, { external_id: 'present', email: 'ana@example.com' });
    expect(await ids(caller, 'identity=email:ana@example.com')).toEqual(['present']);
    expect(await ids(caller, 'include_deleted=true&identity=email:ana@example.com')).toEqual([
      'present',
      'former',
    ]);
  });

  describe('over many identities', () => {
    const large = newId();
    beforeAll(async () => {
      const { query } = world.core.database;
      const contact = newId();
      await query(`INSERT INTO contacts (organization_id, id, source) VALUES ($1, $2, 'api')`, [
        large,
        contact,
      ]);
      await query(
        `INSERT INTO identities (organization_id, id, contact_id, type, value, normal_value, source, first_seen_at,
                                 last_seen_at, yielded_at)
         SELECT $1, gen_random_uuid(), $2, 'device_id', n, n, 'api', now(), now(), CASE WHEN n % 100 = 0 THEN now() END
           FROM generate_series(1, 20000) AS n`,
        [large, contact],
      );
      await query('ANALYZE identities');
    });

    it.each([true, false])('seeks by type and value (with deleted ones: %s)', async (any) => {
      const rows = await world.core.database.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (COSTS OFF) ${OWNERS}`,
        [large, ['device_id', 'device_id'], ['100', '101'], any],
      );
      const plan = rows.map((row) => row['QUERY PLAN']);
      const conditions = plan.filter((line) => line.includes('Index Cond'));
      expect(conditions).toHaveLength(any ? 2 : 1);
      for (const condition of conditions) expect(condition).toContain('normal_value = ');
      expect(plan.join('\n')).not.toContain('Seq Scan on identities');
    });
  });

  it.each([
    'last_name',
    '-last_name',
    'last_seen_at',
    '-last_seen_at',
    'updated_at',
    '-updated_at,last_name',
  ])('walks all by %s, each exactly once', async (sort) => {
    const { caller } = world.anOrganization();
    const names = ['Soto', null, 'Rojas', undefined, 'Álvarez', 'Rojas', null];
    const made: string[] = [];
    for (const last_name of names) made.push((await world.created(caller, { last_name })).id);
    const whole = await caller.get<{ data: ContactDto[] }>(`${CONTACTS}?sort=${sort}`);
    const walked: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: { body: { data: ContactDto[]; page: { next_cursor: string | null } } } = await caller.get(
        `${CONTACTS}?limit=2&sort=${sort}${from}`,
      );
      walked.push(...page.body.data.map(({ id }) => id));
      cursor = page.body.page.next_cursor;
    }
    expect(walked).toEqual(whole.body.data.map(({ id }) => id));
    expect([...walked].sort()).toEqual([...made].sort());
  });
});
