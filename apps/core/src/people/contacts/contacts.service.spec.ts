import { eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { accepted, aTrack, anIdentify, START_MS } from '../../core.fixture.js';
import { aContact, at, CONTACTS, ContactWorld } from './contact.fixture.js';
import type { ContactDto } from './contact.dto.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

describe('POST /v1/core/contacts', () => {
  it('keeps values in the forms in which they are matched, and claims them as identities', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, {
      external_id: 'ana',
      email: 'Ana@Ñandú.CL',
      phone: '9 1234 5678',
      birth_date: '1990-05-17',
      locale: 'es_cl',
      timezone: 'America/Santiago',
      country: 'cl',
      attributes: { plan: 'gold', nested: { a: 1 } },
    });
    expect(contact).toMatchObject({
      external_id: 'ana',
      email: 'Ana@Ñandú.CL',
      phone: '+56912345678',
      birth_date: '1990-05-17',
      locale: 'es-CL',
      country: 'CL',
      national_id: null,
      attributes: { plan: 'gold', nested: { a: 1 } },
      version: 1,
      source: 'api',
    });
    expect(contact.last_seen_at).toBe(contact.created_at);
    expect(await world.identitiesOf(contact)).toEqual([
      'email:ana@xn--and-6ma2c.cl',
      'external_id:ana',
      'phone:+56912345678',
    ]);
  });

  it.each([
    ['/external_id', 'placeholder_identifier', { external_id: '[null]' }],
    ['/email', 'placeholder_identifier', { email: 'Undefined' }],
    ['/phone', 'placeholder_identifier', { phone: '000-000' }],
    ['/external_id', 'too_long', { external_id: 'x'.repeat(201) }],
    ['/external_id', 'wrong_type', { external_id: 7 }],
    ['/external_id', 'required', { external_id: null }],
    ['/email', 'invalid_format', { email: 'ana@' }],
    ['/phone', 'invalid_format', { phone: '12' }],
    ['/first_name', 'too_long', { first_name: 'x'.repeat(101) }],
    ['/last_name', 'too_short', { last_name: ' ' }],
    ['/birth_date', 'invalid_format', { birth_date: '2001-02-29' }],
    ['/birth_date', 'invalid_format', { birth_date: '9999-01-01' }],
    ['/locale', 'invalid_format', { locale: 'not a locale' }],
    ['/timezone', 'invalid_enum', { timezone: 'Mars/Olympus' }],
    ['/country', 'invalid_enum', { country: 'XX' }],
    ['/attributes', 'wrong_type', { attributes: [] }],
    ['/attributes/n', 'out_of_range', { attributes: { n: 1.5e300 } }],
    [
      '/attributes/k200',
      'too_long',
      { attributes: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`k${n}`, n])) },
    ],
    [
      '/attributes',
      'too_long',
      { attributes: Object.fromEntries(Array.from({ length: 401 }, (_, n) => [`k${n}`, null])) },
    ],
    ['/attributes/a~1b/0', 'out_of_range', { attributes: { 'a/b': [-1e300] } }],
    ['/national_id/value', 'invalid_national_id', { national_id: { type: 'CL_RUT', value: '12,345,678-5' } }],
    ['/national_id/value', 'invalid_national_id', { national_id: { type: 'CL_RUT', value: '12345678/5' } }],
    ['/national_id/type', 'invalid_enum', { national_id: { type: 'XX', value: '1-9' } }],
    ['/national_id/value', 'required', { national_id: { type: 'CL_RUT' } }],
    ['/national_id/value', 'invalid_national_id', { national_id: { type: 'CL_RUT', value: '12345678-4' } }],
    [
      '/national_id/value',
      'placeholder_identifier',
      { national_id: { type: 'CL_RUT', value: '44444444-4' } },
    ],
  ])('400 with a pointer to %s: %s', async (pointer, code, overrides) => {
    const answer = await world.anOrganization().caller.post(CONTACTS, aContact(overrides));
    const published = ['placeholder_identifier', 'invalid_national_id'].includes(code);
    const problem = expectProblem(answer, 400, published ? code : 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('names all fields at once, those of a wrong type and those of a wrong form', async () => {
    const wrong = { email: 5, locale: 'not a locale', country: 'XX', timezone: 'Mars/Olympus', plan: 1 };
    const { caller } = world.anOrganization();
    const { id } = await world.created(caller, { external_id: 'ana' });
    for (const answer of [
      await caller.post(CONTACTS, { external_id: 'null', ...wrong }),
      await caller.patch(`${CONTACTS}/${id}`, { external_id: 'null', ...wrong }),
    ]) {
      const problem = expectProblem(answer, 400, 'validation_failed');
      expect(problem.errors?.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
        '/country invalid_enum',
        '/email wrong_type',
        '/external_id placeholder_identifier',
        '/locale invalid_format',
        '/plan unknown_field',
        '/timezone invalid_enum',
      ]);
      expect(problem['errors_total']).toBe(6);
    }
  });

  it('takes the large numbers that identify takes, when it is made and when it changes', async () => {
    const { caller } = world.anOrganization();
    const attributes = { n: 1e20, deep: [{ n: 9_007_199_254_740_992 }] };
    const made = await world.created(caller, { external_id: 'ana', attributes });
    expect(made.attributes).toEqual(attributes);
    const changed = await caller.patch<ContactDto>(`${CONTACTS}/${made.id}`, { attributes: { n: -1e22 } });
    expect(changed).toMatchObject({ status: 200, body: { attributes: { ...attributes, n: -1e22 } } });
  });

  it.each([
    ['/external_id', { external_id: 'ana' }],
    ['/email', { email: 'ANA@example.com' }],
    ['/phone', { phone: '+56 9 1234 5678' }],
    ['/national_id', { national_id: { type: 'CL_RUT', value: '12.345.678-5' } }],
  ])(
    '409 duplicate_value for %s of another contact, with its id; another organization may have it',
    async (pointer, overrides) => {
      const { caller } = world.anOrganization();
      const national_id = { type: 'CL_RUT', value: '12345678-5' };
      const body = { external_id: 'ana', email: 'ana@example.com', phone: '+56912345678', national_id };
      const first = await world.created(caller, body);
      const problem = expectProblem(await caller.post(CONTACTS, aContact(overrides)), 409, 'duplicate_value');
      expect(problem['conflicting_id']).toBe(first.id);
      expect(problem.errors).toEqual([expect.objectContaining({ pointer })]);
      await world.created(world.anOrganization().caller, body);
    },
  );

  it('makes one contact of 50 calls at once, and tells the others its id', async () => {
    const { id, caller } = world.anOrganization();
    const calls = Array.from({ length: 50 }, () => caller.post<ContactDto>(CONTACTS, { external_id: 'ana' }));
    const answers = await Promise.all(calls);
    const [winner, ...more] = answers.filter(({ status }) => status === 201);
    expect(more).toEqual([]);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(expectProblem(answer, 409, 'duplicate_value')['conflicting_id']).toBe(winner?.body.id);
    }
    expect(await world.query('SELECT id FROM contacts WHERE organization_id = $1', [id])).toHaveLength(1);
  });

  it('makes one contact of calls and events at once', async () => {
    const { id, caller } = world.anOrganization();
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2
          ? caller.post<ContactDto>(CONTACTS, { external_id: 'ana' })
          : accepted(caller, aTrack({ external_id: 'ana' })),
      ),
    );
    await eventually(async () => {
      const rows = await world.query('SELECT DISTINCT contact_id FROM events WHERE organization_id = $1', [
        id,
      ]);
      const contacts = await world.query('SELECT id FROM contacts WHERE organization_id = $1', [id]);
      expect(await world.query('SELECT 1 FROM events WHERE organization_id = $1', [id])).toHaveLength(10);
      expect(rows.map((row) => row['contact_id'])).toEqual(contacts.map((row) => row['id']));
    });
  });

  it('keeps a national id nowhere in the clear', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller, { national_id: { type: 'CL_RUT', value: '10.000.013-k' } });
    expect(contact.national_id).toEqual({ type: 'CL_RUT', masked: '***0013-K' });
    await caller.patch(at(contact), { national_id: { type: 'CL_RUT', value: '10000013K' } });
    await caller.post(CONTACTS, aContact({ national_id: { type: 'CL_RUT', value: '10.000.013-1' } }));
    const tables = await world.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`, []);
    for (const { tablename } of tables) {
      const rows = await world.query(`SELECT row_to_json(t)::text AS text FROM ${String(tablename)} t`, []);
      const found = rows.filter(({ text }) => /10\.?000\.?013/.test(String(text)));
      expect([tablename, found]).toEqual([tablename, []]);
    }
    expect(await world.query('SELECT 1 FROM contacts WHERE organization_id = $1', [id])).toHaveLength(1);
  });
});

describe('PATCH /v1/core/contacts/{id}', () => {
  it('merges attributes, clears with null, and releases the values it replaces', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, {
      email: 'ana@example.com',
      attributes: { a: { b: 1, c: 2 }, d: 1 },
    });
    const answer = await caller.patch<ContactDto>(at(contact), {
      email: 'new@example.com',
      first_name: null,
      attributes: { a: { b: null, e: 3 }, d: null },
    });
    expectStatus(answer, 200);
    expect(answer.body).toMatchObject({
      email: 'new@example.com',
      first_name: null,
      attributes: { a: { c: 2, e: 3 } },
      version: 2,
    });
    expect(answer.body.attributes).toEqual({ a: { c: 2, e: 3 } });
    await world.created(caller, { email: 'ANA@example.com' });
    const problem = expectProblem(
      await caller.patch(at(contact), { email: 'ana@example.com' }),
      409,
      'duplicate_value',
    );
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/email' })]);
  });

  it('sets an external id once', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, { external_id: undefined, email: 'ana@example.com' });
    const set = await caller.patch<ContactDto>(at(contact), { external_id: 'ana' });
    expect(set.body).toMatchObject({ external_id: 'ana', version: 2 });
    expectStatus(await caller.patch(at(contact), { external_id: 'ana' }), 200);
    for (const external_id of ['other', null]) {
      const problem = expectProblem(
        await caller.patch(at(contact), { external_id }),
        400,
        'validation_failed',
      );
      expect(problem.errors).toEqual([
        expect.objectContaining({ pointer: '/external_id', code: 'immutable' }),
      ]);
    }
  });

  it('409 last_identity when nothing would be left to find the contact by', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, { external_id: undefined, email: 'ana@example.com' });
    expectProblem(await caller.patch(at(contact), { email: null }), 409, 'last_identity');
    expectStatus(await caller.patch(at(contact), { email: null, phone: '+56912345678' }), 200);
    expect(await world.identitiesOf(contact)).toEqual(['phone:+56912345678']);
  });

  it('wins over an identify of an earlier time, also where it only confirmed a value', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller, {
      external_id: 'ana',
      first_name: 'Ana',
      last_name: 'Rojas',
    });
    const { body } = await caller.patch<ContactDto>(at(contact), { first_name: 'Anita', last_name: 'Rojas' });
    const [confirmed] = await world.query(
      `SELECT field_times->'fields'->>'last_name' AS at FROM contacts WHERE id = $1`,
      [contact.id],
    );
    expect(confirmed?.['at']).not.toBe(contact.created_at);
    const late = { first_name: 'Late', last_name: 'Late', timezone: 'America/Lima' };
    await accepted(caller, anIdentify({ external_id: 'ana', traits: late }), '/v1/core/identify');
    await eventually(async () => {
      const read = await caller.get<ContactDto>(at(contact));
      expect(read.body).toMatchObject({ timezone: 'America/Lima', version: body.version + 1 });
      expect(read.body).toMatchObject({ first_name: 'Anita', last_name: 'Rojas' });
    });
    expect(await world.query('SELECT id FROM contacts WHERE organization_id = $1', [id])).toHaveLength(1);
  });

  it('20 at once: every one has its effect, and versions count them', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller);
    const patches = Array.from({ length: 20 }, (_, n) =>
      caller.patch(at(contact), { attributes: { [`k${n}`]: n } }),
    );
    expect((await Promise.all(patches)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    const { body } = await caller.get<ContactDto>(at(contact));
    expect(Object.keys(body.attributes)).toHaveLength(20);
    expect(body.version).toBe(21);
  });
});
