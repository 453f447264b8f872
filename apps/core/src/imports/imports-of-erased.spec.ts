import { newId } from '@customer-platform/database';
import { expectStatus } from '@customer-platform/testing';
import { START_MS } from '../core.fixture.js';
import { ErasureWorld } from '../subject-requests/subject-request.fixture.js';
import { imported, lines, told } from './import.fixture.js';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());

const MAPPING = { id: 'external_id', mail: 'email', rut: 'national_id.CL_RUT', born: 'birth_date' };

describe('A person who was erased', () => {
  it('is taken out of errors that are many, and out of the names of columns that nobody mapped', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const mark = newId().slice(-10);
    const contact = await world.contacts.created(caller, { external_id: `ext-${mark}` });
    const unknown = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`u${at}`, at]));
    const row = (id: string, more: object): string => JSON.stringify({ id, ...more });
    const before = await imported(
      caller,
      lines(
        '{}',
        ...Array.from({ length: 260 }, (_, at) => row(`other-${at}`, unknown)),
        row(`ext-${mark}`, { [`rut of ${mark}`]: 1 }),
      ),
      { format: 'jsonl', mapping: { id: 'external_id' } },
    );
    expect(before.rows.failed).toBe(262);
    const request = await world.erase(caller, { contact_id: contact.id });
    await world.doneByCore(caller, request);
    const kept = await world.contacts.query(
      `SELECT column_name, value, cardinality(subjects) AS subjects FROM import_errors
        WHERE organization_id = $1 AND place > 5200 ORDER BY place`,
      [organizationId],
    );
    expect(kept).toEqual([
      { column_name: 'u19', value: null, subjects: 1 },
      { column_name: null, value: null, subjects: 0 },
    ]);
  });

  it('is taken out of errors that are many more than the planner knows of', async () => {
    const failing = async () => {
      const { id: organizationId, caller } = world.contacts.anOrganization();
      const externalId = `ext-${newId()}`;
      const contact = await world.contacts.created(caller, { external_id: externalId });
      const file = lines('id,mail,rut,born', `${externalId},,,never-${externalId}`);
      const { id: importId } = await imported(caller, file, { mapping: MAPPING });
      return { organizationId, caller, contact, importId };
    };
    await world.contacts.query('ALTER TABLE import_errors SET (autovacuum_enabled = false)', []);
    await failing();
    await world.contacts.query('ANALYZE import_errors', []);
    const { organizationId, caller, contact, importId } = await failing();
    await world.contacts.query(
      `INSERT INTO import_errors (organization_id, import_id, place, line, code, value, subjects)
       SELECT $1, $2, 1 + place, 2, 'required', 'x', '{}' FROM generate_series(1, 30000) AS place`,
      [organizationId, importId],
    );
    await world.doneByCore(caller, await world.erase(caller, { contact_id: contact.id }));
    const [errors] = await world.contacts.query(
      `SELECT count(*)::int AS count, count(value)::int AS kept, min(place) FILTER (WHERE value IS NOT NULL) AS first
         FROM import_errors WHERE organization_id = $1`,
      [organizationId],
    );
    expect(errors).toEqual({ count: 30_001, kept: 30_000, first: 2 });
  });

  it('is not found again by a number that is read by the country of an earlier row', async () => {
    const { caller } = world.contacts.anOrganization();
    const contact = await world.contacts.created(caller, { phone: '+56912345678' });
    await world.doneByCore(caller, await world.erase(caller, { contact_id: contact.id }));
    const { errors } = await imported(caller, lines('id,land,phone', 'o-1,CL,', 'o-1,,912345678'), {
      mapping: { id: 'external_id', land: 'country', phone: 'phone' },
    });
    expect(told(errors)).toEqual(['3 - subject_erased']);
    const found = await caller.get<{ data: unknown[] }>('/v1/core/contacts?phone=%2B56912345678');
    expect(found.body.data).toEqual([]);
  });

  it('is never made again by an import, and none of what names them is kept', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const mark = newId().slice(-10);
    const contact = await world.contacts.created(caller, {
      external_id: `ext-${mark}`,
      email: `${mark}@example.com`,
      national_id: { type: 'CL_RUT', value: '12.345.678-5' },
    });
    // Errors of rows that name them, by whatever they are named.
    const before = await imported(
      caller,
      lines(
        'id,mail,rut,born',
        `ext-${mark},${mark}@example.com,,never-${mark}`,
        `new-${mark},${mark}@example.com,,2000-01-01`,
        `new-${mark},,12345678-5,soon-${mark}`,
        `other-${mark},,,later`,
      ),
      { mapping: MAPPING },
    );
    expect(before.rows.failed).toBe(4);
    const request = await world.erase(caller, { contact_id: contact.id });
    await world.doneByCore(caller, request);
    const kept = await world.contacts.query(
      'SELECT line, value FROM import_errors WHERE organization_id = $1 ORDER BY place',
      [organizationId],
    );
    expect(kept).toEqual([
      { line: 2, value: null },
      { line: 3, value: null },
      { line: 4, value: null },
      { line: 5, value: 'later' },
    ]);
    const after = await imported(
      caller,
      lines(
        'id,mail,rut,born',
        `ext-${mark},,,`,
        `x-${mark},${mark.toUpperCase()}@example.com,,`,
        `y-${mark},,12345678-5,`,
        `ext-${mark},,,never-${mark}`,
        `z-${mark},,,`,
      ),
      { mapping: MAPPING },
    );
    expect(told(after.errors)).toEqual([
      '2 - subject_erased',
      '3 - subject_erased',
      '4 - subject_erased',
      '5 - subject_erased',
    ]);
    expect(after.errors.data.every(({ value }) => value === null)).toBe(true);
    expect(after.rows).toMatchObject({ total: 5, created: 1, failed: 4 });
    const found = await caller.get<{ data: unknown[] }>(`/v1/core/contacts?external_id=ext-${mark}`);
    expectStatus(found, 200);
    expect(found.body.data).toEqual([]);
  });
});
