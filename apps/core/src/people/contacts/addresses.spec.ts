import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { accepted, anIdentify, START_MS } from '../../core.fixture.js';
import { imported } from '../../imports/import.fixture.js';
import type { ContactDto } from './contact.dto.js';
import { aContact, at, CONTACTS, ContactWorld } from './contact.fixture.js';

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

/** The ids of the contacts that a filter finds. */
const found = async (caller: Caller, filter: string, value: string): Promise<string[]> => {
  const answer = await caller.get<{ data: ContactDto[] }>(
    `${CONTACTS}?${filter}=${encodeURIComponent(value)}`,
  );
  expectStatus(answer, 200);
  return answer.body.data.map(({ id }) => id);
};

/** A contact as a release before kept it, whose address is none any more or is another one. */
const kept = async (caller: Caller, address: string): Promise<ContactDto> => {
  const contact = await world.created(caller, { email: 'to-be@example.cl' });
  await world.query('UPDATE contacts SET email = $2, email_normal = $2 WHERE id = $1', [contact.id, address]);
  const identity = `UPDATE identities SET value = $2, normal_value = $2 WHERE contact_id = $1 AND type = 'email'`;
  await world.query(identity, [contact.id, address]);
  return contact;
};

describe('an address with what nobody sees', () => {
  it('is the one without, whichever way it comes', async () => {
    const { caller } = world.anOrganization();
    const contact = await world.created(caller, { email: ' Irma.Soto@Example.cl\u200b' });
    expect(contact.email).toBe('Irma.Soto@Example.cl');
    for (const email of [
      'irma.soto\u200b@example.cl',
      'irma.so\u00adto@example.cl',
      '\u00a0irma.soto@example.cl',
    ]) {
      const problem = expectProblem(await caller.post(CONTACTS, aContact({ email })), 409, 'duplicate_value');
      expect(problem['conflicting_id']).toBe(contact.id);
      const own = { type: 'email', value: email };
      expectStatus(await caller.post(at(contact, '/identities'), own), 200);
      expect(await found(caller, 'email', email)).toEqual([contact.id]);
      expect(await found(caller, 'identity', `email:${email}`)).toEqual([contact.id]);
    }
    expect(await world.identitiesOf(contact)).toContain('email:irma.soto@example.cl');
  });

  it('is kept clean from an event, and so is a name', async () => {
    const { caller } = world.anOrganization();
    const traits = {
      email: '\u202aRosa\u200b@Example.cl\u00a0',
      first_name: '\u00a0Rosa\u200b',
      last_name: 'Pi\u00a0Ruiz ',
    };
    const body = anIdentify({ traits });
    await accepted(caller, body, '/v1/core/identify');
    const contact = await eventually(async () => {
      const { body: page } = await caller.get<{ data: ContactDto[] }>(`${CONTACTS}?email=rosa@example.cl`);
      const [one] = page.data;
      if (!one) throw new Error('the event is not processed yet');
      return one;
    });
    expect(contact).toMatchObject({
      email: 'Rosa@Example.cl',
      first_name: 'Rosa',
      last_name: 'Pi\u00a0Ruiz',
    });
  });
});

describe('an address that no mail can be sent to', () => {
  it.each(['peña@example.cl', '"irma soto"@example.cl', 'irma\u00a0soto@example.cl', 'irma@10.0.0.1'])(
    '400 with %j',
    async (email) => {
      const { caller } = world.anOrganization();
      const problem = expectProblem(
        await caller.post(CONTACTS, aContact({ email })),
        400,
        'validation_failed',
      );
      expect(problem.errors).toEqual([
        expect.objectContaining({ pointer: '/email', code: 'invalid_format' }),
      ]);
      const contact = await world.created(caller);
      expectProblem(await caller.patch(at(contact), { email }), 400, 'validation_failed');
      const identity = { type: 'email', value: email };
      expectProblem(await caller.post(at(contact, '/identities'), identity), 400, 'validation_failed');
    },
  );
});

describe('an address as a release before kept it', () => {
  it.each(['peña@example.cl', 'ir\u200bma@example.cl'])('is found by what was kept: %j', async (address) => {
    const { caller } = world.anOrganization();
    const contact = await kept(caller, address);
    expect(await found(caller, 'email', address)).toEqual([contact.id]);
    expect(await found(caller, 'email[in]', address)).toEqual([contact.id]);
    expect(await found(caller, 'identity', `email:${address}`)).toEqual([contact.id]);
    const request = { type: 'access', identity: { type: 'email', value: address } };
    const opened = await caller.post<{ contact_id: string }>('/v1/core/subject-requests', request);
    expectStatus(opened, 202);
    expect(opened.body.contact_id).toBe(contact.id);
    const query = `?type=email&value=${encodeURIComponent(address)}`;
    expectStatus(await caller.delete(at(contact, `/identities${query}`)), 204);
    expect(await world.identitiesOf(contact)).toEqual([expect.stringMatching(/^external_id:/)]);
  });

  const address = 'peña@example.cl';

  it('is written back as it is, and changed to none that is not valid', async () => {
    const { caller } = world.anOrganization();
    const contact = await kept(caller, address);
    const identities = await world.identitiesOf(contact);
    const same = await caller.patch<ContactDto>(at(contact), { email: address, first_name: 'Irma' });
    expectStatus(same, 200);
    expect(same.body).toMatchObject({ email: address, first_name: 'Irma' });
    expectStatus(await caller.post(at(contact, '/identities'), { type: 'email', value: address }), 200);
    const wrong = await caller.patch(at(contact), { email: address, birth_date: 'never' });
    const { errors } = expectProblem(wrong, 400, 'validation_failed');
    expect(errors).toMatchObject([{ pointer: '/birth_date' }]);
    for (const email of ['peñas@example.cl', `"irma" ${address}`]) {
      const problem = expectProblem(await caller.patch(at(contact), { email }), 400, 'validation_failed');
      expect(problem.errors).toMatchObject([{ pointer: '/email', code: 'invalid_format' }]);
    }
    expect(await world.identitiesOf(contact)).toEqual(identities);
    const next = await caller.patch<ContactDto>(at(contact), { email: 'irma@example.cl' });
    expect(next.body.email).toBe('irma@example.cl');
  });

  it('belongs to nobody else for that', async () => {
    const { caller } = world.anOrganization();
    await kept(caller, address);
    const other = await world.created(caller);
    expectProblem(await caller.patch(at(other), { email: address }), 400, 'validation_failed');
    expectProblem(await caller.post(CONTACTS, aContact({ email: address })), 400, 'validation_failed');
    const added = await caller.post(at(other, '/identities'), { type: 'email', value: address });
    expectProblem(added, 400, 'validation_failed');
  });

  it('is said again by events without a warning', async () => {
    const { caller } = world.anOrganization();
    const { external_id: externalId } = await kept(caller, address);
    const said = anIdentify({
      external_id: externalId,
      traits: { email: address, first_name: 'Irma' },
      identities: [{ type: 'email', value: address }],
    });
    const { event_id: id } = await accepted(caller, said, '/v1/core/identify');
    const [event] = await eventually(async () => {
      const path = `/v1/core/events?correlation_id=${id}`;
      const { body } = await caller.get<{ data: { warnings: unknown }[] }>(path);
      expect(body.data).toHaveLength(1);
      return body.data;
    });
    expect(event?.warnings).toEqual([]);
  });

  it.each(['external_id', 'email'])('is taken in a file whose rows are matched by %s', async (by) => {
    const { caller } = world.anOrganization();
    const contact = await kept(caller, address);
    const file = `id,mail,name\n${contact.external_id ?? ''},${address},Irma\n`;
    const { rows } = await imported(caller, file, { match_by: by });
    expect(rows).toMatchObject({ updated: 1, failed: 0 });
    const { body } = await caller.get<ContactDto>(at(contact));
    expect(body).toMatchObject({ email: address, first_name: 'Irma' });
  });
});
