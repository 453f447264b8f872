import { newId, type SubjectPage } from '@customer-platform/database';
import { type Answer, eventually, expectProblem, expectStatus, peerModule } from '@customer-platform/testing';
import { aContact, aSend, messagingWorld, send, settled, type MessagingWorld } from './messaging.fixture.js';

const ROWS = '/internal/subject-rows';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
});
afterAll(() => world.close());

it('gives core what was sent to a person and what they want, and nobody else’s', async () => {
  const { id, api } = world.organization();
  const [person, other] = [aContact(), aContact()];
  for (const contact of [person, other])
    await world.probe.publish({
      type: 'core.contact.updated.v1',
      organizationId: id,
      data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
    });
  await eventually(async () => {
    const known = await world.database.query('SELECT 1 FROM contacts WHERE organization_id = $1', [id]);
    expect(known).toHaveLength(2);
  });
  const content = { subject: 'Hello', text: 'Hello.' };
  for (const contact of [person, other]) {
    const sent = await send(api, aSend({ recipient: { contact_id: contact.id }, content }));
    await settled(api, sent, 'sent');
    await world.database.query(`INSERT INTO preferences VALUES ($1, $2, 'email', 'news', false, now())`, [
      id,
      `contact:${contact.id}`,
    ]);
    await world.database.query(
      `INSERT INTO notifications VALUES ($1, gen_random_uuid(), $2, 'Title', 'Hello.', NULL, NULL, now())`,
      [id, contact.id],
    );
    await world.database.query(
      `INSERT INTO push_tokens (organization_id, id, contact_id, token, canonical, seen_at)
       VALUES ($1, gen_random_uuid(), $2::uuid, 'device-' || $2::uuid, 'device-' || $2::uuid, now())`,
      [id, contact.id],
    );
    const suppression = { channel: 'email', scope: 'address', address: contact.email, reason: 'manual' };
    const lifted = await api.post<{ id: string }>('/v1/messaging/suppressions', suppression);
    expectStatus(await api.delete(`/v1/messaging/suppressions/${lifted.body.id}`), 204);
    expectStatus(await api.post('/v1/messaging/suppressions', suppression), 201);
  }
  const core = await peerModule('core', 'messaging', world.app.internalUrl);
  const read = async (portable: boolean): Promise<Map<string | null, string>> => {
    const found = new Map<string | null, string>();
    const question = { organization_id: id, contact_ids: [person.id], portable };
    let after: object | undefined = {};
    while (after !== undefined) {
      const answer: Answer<SubjectPage> = await core.post<SubjectPage>(ROWS, { ...question, ...after });
      expectStatus(answer, 200);
      const { resource, rows, next } = answer.body;
      if (resource !== null) found.set(resource, rows.join());
      after = next
        ? { after_resource: next.resource, after_contact_id: next.contact_id, after_place: next.place }
        : undefined;
    }
    return found;
  };
  const found = await read(false);
  expect([...found.keys()]).toEqual([
    'profile',
    'devices',
    'preferences',
    'sends',
    'send_history',
    'notifications',
    'suppressions',
    'lifted_suppressions',
  ]);
  expect(found.get('sends')).toContain('"subject":"Hello"');
  for (const resource of ['suppressions', 'lifted_suppressions'])
    expect(found.get(resource)).toContain(person.email);
  const everything = JSON.stringify([...found]);
  for (const theirs of [other.id, other.email]) expect(everything).not.toContain(theirs);
  expect([...(await read(true)).keys()]).toEqual(['preferences']);
  const question = { organization_id: newId(), contact_ids: [person.id], portable: false };
  expect((await core.post(ROWS, question)).body).toEqual({ resource: null, rows: [], next: null });
  const crm = await peerModule('crm', 'messaging', world.app.internalUrl);
  expectProblem(await crm.post(ROWS, question), 403, 'permission_denied');
});
