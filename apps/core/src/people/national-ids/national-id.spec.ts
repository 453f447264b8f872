import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { expectProblem, expectStatus } from '@customer-platform/testing';
import { START_MS } from '../../core.fixture.js';
import { at, ContactWorld } from '../contacts/contact.fixture.js';
import type { NationalIdDto } from './national-id.dto.js';

const READ = 'core.contacts.read_national_id';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

const auditOf = (organizationId: string): Promise<Record<string, unknown>[]> =>
  world.query(
    `SELECT resource_type, resource_id, outcome FROM audit_entries
      WHERE organization_id = $1 AND action = $2 ORDER BY occurred_at, id`,
    [organizationId, READ],
  );

describe('GET /v1/core/contacts/{id}/national-id', () => {
  it('answers the whole value to whoever may, never to be kept, and is on record', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller, { national_id: { type: 'CL_RUT', value: '12.345.678-5' } });
    const answer = await world.core.app.as(id, [READ]).get<NationalIdDto>(at(contact, '/national-id'));
    expectStatus(answer, 200);
    expect(answer.body).toEqual({ type: 'CL_RUT', country: 'CL', value: '12345678-5' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await auditOf(id)).toEqual([
      { resource_type: 'contacts', resource_id: contact.id, outcome: 'success' },
    ]);
  });

  it('a passport has no country of its own', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, { national_id: { type: 'PASSPORT', value: 'ab 123456' } });
    const { body } = await caller.get<NationalIdDto>(at(contact, '/national-id'));
    expect(body).toEqual({ type: 'PASSPORT', country: null, value: 'AB123456' });
  });

  it('403 without the permission, on record too', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller, { national_id: { type: 'CL_RUT', value: '12345678-5' } });
    const unable = world.core.app.as(
      id,
      PERMISSIONS.filter((permission) => permission !== READ),
    );
    expectProblem(await unable.get(at(contact, '/national-id')), 403, 'permission_denied');
    expect(await auditOf(id)).toEqual([
      { resource_type: 'contacts', resource_id: contact.id, outcome: 'denied' },
    ]);
  });

  it('404 without a national id, for an unknown contact, and for one of another organization', async () => {
    const { caller } = world.anOrganization();
    const foreign = await world.created(world.anOrganization().caller, {
      national_id: { type: 'CL_RUT', value: '12345678-5' },
    });
    for (const contact of [await world.created(caller), { id: newId() }, foreign]) {
      expectProblem(await caller.get(at(contact, '/national-id')), 404, 'not_found');
    }
    expectProblem(await caller.get(at({ id: 'x' }, '/national-id')), 400, 'invalid_id');
  });

  it('503 when it cannot be recorded: nothing is shown', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller, { national_id: { type: 'CL_RUT', value: '12345678-5' } });
    await world.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no audit'; END $$`,
      [],
    );
    await world.query(
      `CREATE CONSTRAINT TRIGGER refuse_audit AFTER INSERT ON audit_entries DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW WHEN (NEW.organization_id = '${id}') EXECUTE FUNCTION refuse()`,
      [],
    );
    try {
      const problem = expectProblem(
        await caller.get(at(contact, '/national-id')),
        503,
        'dependency_unavailable',
      );
      expect(JSON.stringify(problem)).not.toContain('12345678');
    } finally {
      await world.query('DROP TRIGGER refuse_audit ON audit_entries', []);
      await world.query('DROP FUNCTION refuse()', []);
    }
  });
});
