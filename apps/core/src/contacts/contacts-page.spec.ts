import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { accepted, anIdentify, START_MS } from '../core.fixture.js';
import { CONTACTS, ContactWorld } from './contact.fixture.js';
import type { ContactDto } from './contact.dto.js';

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
