import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { Client } from 'pg';
import { accepted, anIdentify, START_MS } from '../../core.fixture.js';
import { candidates, FEW } from './contact-search.js';
import { CONTACTS, ContactWorld } from './contact.fixture.js';
import { type ContactDto, LAST_NAME_BYTES } from './contact.dto.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

async function found(caller: Caller, parameters: Record<string, string>): Promise<(string | null)[]> {
  const answer = await caller.get<{ data: ContactDto[] }>(
    `${CONTACTS}?${new URLSearchParams(parameters).toString()}`,
  );
  expectStatus(answer, 200);
  return answer.body.data.map(({ external_id: id }) => id).sort();
}
const searched = (caller: Caller, q: string): Promise<(string | null)[]> => found(caller, { q });

describe('GET /v1/core/contacts?q=', () => {
  it('finds by how words of names, email, phone and external id begin, without case and accents', async () => {
    const { caller } = world.anOrganization();
    const people = [
      { external_id: 'a', first_name: 'María José', last_name: 'García-Márquez' },
      { external_id: 'b', first_name: 'MARIA', last_name: 'Núñez O’Neill', phone: '+56912345678' },
      { external_id: 'CRM 77', email: 'Ana.Rojas@Example.com', last_name: 'İpek' },
    ];
    for (const person of people) await world.created(caller, person);
    for (const [q, ids] of [
      ['maria', ['a', 'b']],
      ['MARÍA', ['a', 'b']],
      ['mari jos', ['a']],
      ['jose maria', ['a']],
      ['garcia maria', ['a']],
      ['marquez', ['a']],
      ['garcía-m', ['a']],
      ['nunez', ['b']],
      ['neill', ['b']],
      ['aria', []],
      ['maria soto', []],
      ['+5691234', ['b']],
      ['5691234', ['b']],
      ['ana.ro', ['CRM 77']],
      ['example', []],
      ['crm', ['CRM 77']],
      ['ipek', ['CRM 77']],
      ['ma m', ['a', 'b']],
      ['m j g ma jo ga mar jos', ['a']],
      ['garcia marquez jose maria a g', ['a']],
      [' crm ', ['CRM 77']],
      ['  ', []],
      ['50%', []],
      ['m_ria', []],
      ['́ ́', []],
    ] as const)
      expect({ q, ids: await searched(caller, q) }).toEqual({ q, ids: [...ids] });
  });

  it('finds a contact by what it is now, however it was changed', async () => {
    const { caller } = world.anOrganization();
    await accepted(
      caller,
      anIdentify({ external_id: 'person', traits: { first_name: 'Ana', last_name: 'Soto' } }),
      '/v1/core/identify',
    );
    await eventually(async () => expect(await searched(caller, 'soto')).toEqual(['person']));
    await accepted(
      caller,
      anIdentify({ external_id: 'person', traits: { last_name: 'Rojas' } }),
      '/v1/core/identify',
    );
    await eventually(async () => expect(await searched(caller, 'ana rojas')).toEqual(['person']));
    expect(await searched(caller, 'soto')).toEqual([]);
    const { body } = await caller.get<{ data: ContactDto[] }>(`${CONTACTS}?q=rojas`);
    const id = body.data[0]?.id ?? '';
    expectStatus(await caller.patch(`${CONTACTS}/${id}`, { first_name: null, last_name: 'Paz' }), 200);
    expect(await searched(caller, 'an')).toEqual([]);
    expect(await searched(caller, 'paz')).toEqual(['person']);
    expectStatus(await caller.delete(`${CONTACTS}/${id}`), 204);
    expect(await searched(caller, 'paz')).toEqual([]);
    expect(await found(caller, { q: 'paz', include_deleted: 'true' })).toEqual(['person']);
  });

  it('leaves no word of a contact that is purged', async () => {
    const { caller, id: organizationId } = world.anOrganization();
    const { id } = await world.created(caller, { external_id: 'gone', last_name: 'Soto' });
    expectStatus(await caller.delete(`${CONTACTS}/${id}`), 204);
    expectStatus(await caller.delete(`${CONTACTS}/${id}/purge`), 204);
    const words = 'SELECT word FROM contact_words WHERE organization_id = $1';
    expect(await world.core.database.query(words, [organizationId])).toEqual([]);
  });

  it('finds none of another organization', async () => {
    const [here, there] = [world.anOrganization(), world.anOrganization()];
    await world.created(here.caller, { external_id: 'here', last_name: 'Soto' });
    await world.created(there.caller, { external_id: 'there', last_name: 'Soto' });
    expect(await searched(here.caller, 'soto')).toEqual(['here']);
    expect(await searched(there.caller, 'soto')).toEqual(['there']);
    expect(await found(there.caller, { 'last_name[prefix]': 'So' })).toEqual(['there']);
  });

  it('goes with other filters, with any order, and with a cursor of its own', async () => {
    const { caller } = world.anOrganization();
    for (const [external_id, last_name, country] of [
      ['a', 'Soto', 'CL'],
      ['b', 'Sosa', 'CL'],
      ['c', 'Sotomayor', 'PE'],
      ['d', 'Rojas', 'CL'],
    ])
      await world.created(caller, { external_id, last_name, country });
    expect(await found(caller, { q: 'so', country: 'CL' })).toEqual(['a', 'b']);
    const walked: (string | null)[] = [];
    const ask = (cursor: string, q = 'so') =>
      caller.get<{ data: ContactDto[]; page: { next_cursor: string | null } }>(
        `${CONTACTS}?q=${q}&sort=last_name&limit=1${cursor && `&cursor=${cursor}`}`,
      );
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: Awaited<ReturnType<typeof ask>> = await ask(cursor);
      walked.push(...body.data.map(({ external_id: id }) => id));
      if (body.page.next_cursor)
        expectProblem(await ask(body.page.next_cursor, 'sot'), 400, 'cursor_mismatch');
      cursor = body.page.next_cursor;
    }
    expect(walked).toEqual(['b', 'a', 'c']);
    expect(await found(caller, { q: 'so', sort: '-last_seen_at' })).toEqual(['a', 'b', 'c']);
  });

  it('takes names of any script at their longest, and finds a long one by its beginning', async () => {
    const { caller } = world.anOrganization();
    const widest = '\u{FDFA}'.repeat(100);
    await world.created(caller, { external_id: 'w', first_name: widest, last_name: 'a-'.repeat(50) });
    await world.created(caller, { external_id: 'x'.repeat(200) });
    expect(await searched(caller, '\u{FDFA}\u{FDFA}')).toEqual(['w']);
    expect(await searched(caller, 'x'.repeat(100))).toEqual(['x'.repeat(200)]);
  });

  it.each(['', 'a', '\u{1F600}', 'a'.repeat(101)])('400 for %j', async (q) => {
    const { caller } = world.anOrganization();
    const answer = await caller.get(`${CONTACTS}?${new URLSearchParams({ q }).toString()}`);
    expectProblem(answer, 400, 'invalid_filter');
  });
});

describe('GET /v1/core/contacts?last_name[prefix]=', () => {
  it('takes the text as it is, as every filter does', async () => {
    const { caller } = world.anOrganization();
    for (const last_name of ['Soto', 'Sotomayor', 'soto', 'Sot%', 'Álvarez', null])
      await world.created(caller, { external_id: last_name ?? 'nobody', last_name });
    expect(await found(caller, { 'last_name[prefix]': 'Sot' })).toEqual(['Sot%', 'Soto', 'Sotomayor']);
    expect(await found(caller, { 'last_name[prefix]': 'Sot%' })).toEqual(['Sot%']);
    expect(await found(caller, { 'last_name[prefix]': 'Á' })).toEqual(['Álvarez']);
    expect(await found(caller, { 'last_name[prefix]': 'A' })).toEqual([]);
  });
});

describe('of 100,000 contacts of an organization, under row level security', () => {
  const CONTACTS_THERE = 100_000;
  let large: string;
  let caller: Caller;
  beforeAll(async () => {
    ({ id: large, caller } = world.anOrganization());
    const { query } = world.core.database;
    await query(
      `INSERT INTO contacts (organization_id, id, external_id, first_name, last_name, email, source, created_at)
       SELECT $1, gen_random_uuid(), 'customer-' || n, (ARRAY['María', 'José', 'Ana'])[1 + n % 3],
              'Soto' || n % 1000, 'person' || n || '@example.com', 'api', now() - n * interval '1 second'
         FROM generate_series(1, $2::int) AS n`,
      [large, CONTACTS_THERE],
    );
    await query(
      `INSERT INTO contact_activity SELECT organization_id, id, created_at FROM contacts WHERE organization_id = $1`,
      [large],
    );
    await query('ANALYZE contacts, contact_activity, contact_words');
  }, 300_000);

  /** The plan as the service's own role gets it. */
  async function planOf(sql: string, values: unknown[]): Promise<string> {
    const client = new Client({ connectionString: world.core.database.url });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(`SELECT set_config('app.organization_id', $1, true)`, [large]);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${sql}`, values);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    } finally {
      await client.end();
    }
  }

  it('words are sought in their index', async () => {
    const bounds = ['soto77', 'soto77\u{10FFFF}', 'mar', 'mar\u{10FFFF}'];
    const plan = await planOf(candidates(2), [large, ...bounds]);
    expect(plan).toContain('contact_words_by_word');
    expect(plan).toMatch(/Index Cond: .*word >= 'soto77'/);
    expect(plan).not.toContain('Seq Scan');
  });

  it('last names are sought in their index', async () => {
    const plan = await planOf(
      `SELECT id FROM contacts WHERE organization_id = $1 AND ${LAST_NAME_BYTES} ^@ $2::text`,
      [large, 'Soto77'],
    );
    expect(plan).toMatch(/contacts_by_last_name_beginning/);
    expect(plan).toMatch(/Index Cond: .*last_name.* >= 'Soto77'/);
  });

  it('few and many that match are found alike', async () => {
    const names = async (q: string) => {
      const answer = await caller.get<{ data: ContactDto[] }>(`${CONTACTS}?limit=3&q=${q}`);
      expectStatus(answer, 200);
      return answer.body.data.map(({ external_id: id }) => id);
    };
    expect(CONTACTS_THERE / 3).toBeGreaterThan(FEW);
    expect(await names('maria')).toEqual(['customer-3', 'customer-6', 'customer-9']);
    expect(await names('maria+soto')).toEqual(['customer-3', 'customer-6', 'customer-9']);
    expect(await names('maria+soto77')).toEqual(['customer-771', 'customer-774', 'customer-777']);
  });
});
