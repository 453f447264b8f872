import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { eventually, expectProblem, expectStatus, kafkaProbe, type Caller } from '@customer-platform/testing';
import { at, ContactWorld } from '../contacts/contact.fixture.js';
import type { ContactDto } from '../contacts/contact.dto.js';
import { accepted, anIdentify, START_MS } from '../../core.fixture.js';
import type { IdentityDto } from './identity.dto.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

type Named = { id: string };
const path = (contact: Named, suffix = ''): string => at(contact, `/identities${suffix}`);
const add = (caller: Caller, contact: Named, type: string, value: string, more: object = {}) =>
  caller.post<IdentityDto>(path(contact), { type, value, ...more });
const remove = (caller: Caller, contact: Named, type: string, value: string) =>
  caller.delete(path(contact, `?type=${type}&value=${encodeURIComponent(value)}`));

describe('POST /v1/core/contacts/{id}/identities', () => {
  it('201 with the identity in the form it was sent; its own again 200; of another contact 409', async () => {
    const { caller } = world.anOrganization();
    const [contact, other] = [await world.created(caller), await world.created(caller)];
    const added = await add(caller, contact, 'email', 'Ana@Example.com', { verified: true });
    expectStatus(added, 201);
    expect(added.headers.get('location')).toContain(path(contact));
    expect(added.body).toMatchObject({
      type: 'email',
      value: 'Ana@Example.com',
      verified: true,
      primary: false,
      source: 'api',
    });
    const again = await add(caller, contact, 'email', 'ANA@example.com');
    expectStatus(again, 200);
    expect(again.body).toEqual(added.body);
    const unverified = await add(caller, contact, 'email', 'ana@example.com', { verified: false });
    expect(unverified.body).toMatchObject({ id: added.body.id, verified: false });
    const taken = await add(caller, other, 'email', 'ana@EXAMPLE.com');
    const problem = expectProblem(taken, 409, 'duplicate_value');
    expect(problem['conflicting_id']).toBe(contact.id);
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/value' })]);
  });

  it('an external id of a contact without one becomes its external id; of one that has one 409', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, { external_id: undefined, email: 'ana@example.com' });
    expectStatus(await add(caller, contact, 'external_id', 'ana'), 201);
    const { body } = await caller.get<ContactDto>(at(contact));
    expect(body).toMatchObject({ external_id: 'ana', version: 2 });
    expect(expectProblem(await add(caller, contact, 'external_id', 'b'), 409, 'limit_reached')['limit']).toBe(
      1,
    );
  });

  it('a phone number is read by the contact’s country', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, { country: 'CL' });
    expectStatus(await add(caller, contact, 'phone', '9 1234 5678'), 201);
    expect(await world.identitiesOf(contact)).toContain('phone:+56912345678');
  });

  it.each([
    ['/value', 'placeholder_identifier', { type: 'device_id', value: '"null"' }],
    ['/value', 'invalid_format', { type: 'email', value: 'nobody' }],
    ['/value', 'invalid_format', { type: 'phone', value: '12' }],
    ['/value', 'too_long', { type: 'device_id', value: 'x'.repeat(501) }],
    ['/value', 'required', { type: 'device_id' }],
    ['/type', 'invalid_format', { type: 'twitter', value: 'ana' }],
    ['/type', 'invalid_format', { type: 'custom.', value: 'ana' }],
    ['/verified', 'wrong_type', { type: 'device_id', value: 'ana', verified: 'yes' }],
    ['/source', 'unknown_field', { type: 'device_id', value: 'ana', source: 'api' }],
  ])('400 with a pointer to %s: %s', async (pointer, code, body) => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller);
    const published = code === 'placeholder_identifier' ? code : 'validation_failed';
    const problem = expectProblem(await caller.post(path(contact), body), 400, published);
    expect(problem.errors).toContainEqual(expect.objectContaining({ pointer, code }));
  });

  it('409 limit_reached beyond the limit of a type, however many come at once', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => add(caller, contact, 'custom.loyalty_card', `card-${String(n)}`)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(expectProblem(answer, 409, 'limit_reached')['limit']).toBe(5);
    }
    expect(await world.identitiesOf(contact)).toHaveLength(6);
  });

  it('one owner, whoever asks at once: two contacts, and an identify', async () => {
    const { id, caller } = world.anOrganization();
    const contacts = [await world.created(caller), await world.created(caller)];
    const value = `device-${newId()}`;
    const third = anIdentify({ identities: [{ type: 'device_id', value }] });
    const [, ...answers] = await Promise.all([
      accepted(caller, third, '/v1/core/identify'),
      ...contacts.map((contact) => add(caller, contact, 'device_id', value)),
    ]);
    await eventually(async () => {
      expect(await world.query('SELECT 1 FROM events WHERE organization_id = $1', [id])).toHaveLength(1);
    });
    const owners = await world.query('SELECT contact_id FROM identities WHERE normal_value = $1', [value]);
    expect(owners).toHaveLength(1);
    const won = answers.filter(({ status }) => status === 201);
    expect(won.length).toBeLessThanOrEqual(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2 - won.length);
  });
});

describe('DELETE /v1/core/contacts/{id}/identities', () => {
  it('by value in the query, by a body, and by id: 204, and the value is free', async () => {
    const { caller } = world.anOrganization();
    const [contact, other] = [await world.created(caller), await world.created(caller)];
    await add(caller, contact, 'email', 'ana@example.com');
    await add(caller, contact, 'device_id', 'tablet');
    const { body } = await add(caller, contact, 'anonymous_id', '9f1c');
    expectStatus(await remove(caller, contact, 'email', 'ANA@example.com'), 204);
    const device = { body: { type: 'device_id', value: 'tablet' } };
    expectStatus(await caller.delete(path(contact), device), 204);
    expectStatus(await caller.delete(path(contact, `/${body.id}`)), 204);
    expect(await world.identitiesOf(contact)).toEqual([`external_id:${contact.external_id}`]);
    expectStatus(await add(caller, other, 'device_id', 'tablet'), 201);
    expectProblem(await remove(caller, contact, 'device_id', 'tablet'), 404, 'not_found');
    expectProblem(await caller.delete(path(contact, `/${body.id}`)), 404, 'not_found');
  });

  it('takes the value out of the contact’s field too, external ids included', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, { email: 'ana@example.com' });
    expectStatus(await remove(caller, contact, 'email', 'ana@example.com'), 204);
    await add(caller, contact, 'device_id', 'tablet');
    expectStatus(await remove(caller, contact, 'external_id', contact.external_id ?? ''), 204);
    const { body } = await caller.get<ContactDto>(at(contact));
    expect(body).toMatchObject({ email: null, external_id: null, version: 3 });
    expect(await world.identitiesOf(contact)).toEqual(['device_id:tablet']);
  });

  it('409 last_identity, of several removals at once too', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller);
    expectProblem(
      await remove(caller, contact, 'external_id', contact.external_id ?? ''),
      409,
      'last_identity',
    );
    for (const value of ['a', 'b', 'c']) await add(caller, contact, 'device_id', value);
    const removals = [
      ['external_id', contact.external_id ?? ''],
      ...['a', 'b', 'c'].map((value) => ['device_id', value]),
    ];
    const answers = await Promise.all(
      removals.map(([type = '', value = '']) => remove(caller, contact, type, value)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 204, 204, 409]);
    expect(await world.identitiesOf(contact)).toHaveLength(1);
  });

  it('400 without a type or a value: never all', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller);
    const bare = expectProblem(await caller.delete(path(contact)), 400, 'validation_failed');
    const unstorable = await caller.delete(path(contact, '?type=anonymous_id&value=a%00'));
    expectProblem(unstorable, 400, 'validation_failed');
    expect(bare.errors?.map(({ parameter }) => parameter)).toEqual(['type', 'value']);
    const body = expectProblem(
      await caller.delete(path(contact), { body: { type: 'email' } }),
      400,
      'validation_failed',
    );
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual(['/value']);
  });
});

describe('identities of a contact', () => {
  it('are listed with what stands in a field as primary, filtered by type', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, { email: 'ana@example.com' });
    await add(caller, contact, 'email', 'second@example.com');
    const { body } = await caller.get<{ data: IdentityDto[] }>(path(contact, '?sort=created_at'));
    expect(body.data.map(({ type, primary }) => [type, primary])).toEqual([
      ['external_id', true],
      ['email', true],
      ['email', false],
    ]);
    const filtered = await caller.get<{ data: IdentityDto[] }>(path(contact, '?type=external_id'));
    expect(filtered.body.data.map(({ value }) => value)).toEqual([contact.external_id]);
    expectProblem(await caller.get(path(contact, '?value=x')), 400, 'unknown_parameter');
  });

  it('of a merged contact are read at the survivor, of a deleted one not written', async () => {
    const { caller } = world.anOrganization();
    const [survivor, merged, deleted] = [
      await world.created(caller),
      await world.created(caller),
      await world.created(caller),
    ];
    await world.query('UPDATE contacts SET merged_into = $2 WHERE id = $1', [merged.id, survivor.id]);
    const read = await caller.get(path(merged, '?limit=1'));
    expect([read.status, read.headers.get('location')]).toEqual([307, path(survivor, '?limit=1')]);
    await caller.delete(at(deleted));
    for (const [contact, code] of [
      [merged, 'contact_merged'],
      [deleted, 'resource_deleted'],
    ] as const) {
      expectProblem(await add(caller, contact, 'device_id', 'x'), 409, code);
      expectProblem(await remove(caller, contact, 'external_id', contact.external_id ?? ''), 409, code);
    }
    expectStatus(await caller.get(path(deleted)), 200);
  });

  it('need core.contacts.update and nothing else; of another organization they are 404', async () => {
    const { id, caller } = world.anOrganization();
    const contact = await world.created(caller);
    const able = world.core.app.as(id, ['core.contacts.update']);
    const others = PERMISSIONS.filter((permission) => permission !== 'core.contacts.update');
    const unable = world.core.app.as(id, others);
    const foreign = world.anOrganization().caller;
    const calls = (by: Caller) => [
      by.get(path(contact)),
      add(by, contact, 'device_id', 'x'),
      remove(by, contact, 'device_id', 'x'),
      by.delete(path(contact, `/${newId()}`)),
    ];
    for (const call of calls(unable)) expectProblem(await call, 403, 'permission_denied');
    for (const call of calls(foreign)) expectProblem(await call, 404, 'not_found');
    expectStatus(await able.get(path(contact)), 200);
    expectStatus(await add(able, contact, 'device_id', 'x'), 201);
    expectStatus(await remove(able, contact, 'device_id', 'x'), 204);
  });

  it('are told of and audited as they come and go', async () => {
    const { id, caller } = world.anOrganization();
    const probe = kafkaProbe(world.core.app);
    probe.collect('core');
    const contact = await world.created(caller);
    const { body } = await add(caller, contact, 'device_id', 'tablet');
    await remove(caller, contact, 'device_id', 'tablet');
    const [removed] = await probe.expectEvents('core.identity.removed.v1', id, 1);
    expect(removed?.data).toEqual({ contact_id: contact.id, identity_id: body.id, type: 'device_id' });
    expect(probe.events('core.identity.added.v1', id).at(-1)?.data).toEqual(removed?.data);
    const audit = await world.query(
      `SELECT action, resource_id FROM audit_entries
        WHERE organization_id = $1 AND resource_type = 'identities'`,
      [id],
    );
    expect(audit).toEqual(Array(2).fill({ action: 'core.contacts.update', resource_id: body.id }));
  });
});
