import { randomUUID } from 'node:crypto';
import { aTemplate, messagingWorld, type MessagingWorld } from './messaging.fixture.js';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
  world.probe.collect('messaging');
});
afterAll(() => world.close());

describe('messaging tells', () => {
  it('of a template each time a version takes effect, and of no draft', async () => {
    const { id: organizationId, api } = world.organization();
    const draft = await api.post<{ id: string }>('/v1/messaging/templates', aTemplate({ publish: false }));
    const path = `/v1/messaging/templates/${draft.body.id}`;
    const patch = async (body: object): Promise<void> =>
      expect(await api.patch(path, body)).toMatchObject({ status: 200 });
    await patch({ published_version: 1 });
    await patch({ locales: { es: { subject: 'Two', text: 'x' } }, publish: false });
    await patch({ locales: { es: { subject: 'Three', text: 'x' } } });
    await patch({ name: `Only a name ${randomUUID()}` });
    await patch({ published_version: 1 });
    const events = await world.probe.expectEvents('messaging.template.published.v1', organizationId, 3);
    expect(events.map(({ data }) => data)).toEqual(
      [1, 3, 1].map((version) => ({ template_id: draft.body.id, version })),
    );
  });

  it('of a suppression made and lifted once each, with who did it and without the address', async () => {
    const { id: organizationId, api } = world.organization();
    const body = { channel: 'email', address: `${randomUUID()}@example.com` };
    const made = await api.post<{ id: string }>('/v1/messaging/suppressions', body);
    expect(await api.post('/v1/messaging/suppressions', body)).toMatchObject({ status: 200 });
    const path = `/v1/messaging/suppressions/${made.body.id}`;
    expect([(await api.delete(path)).status, (await api.delete(path)).status]).toEqual([204, 404]);
    const [lifted] = await world.probe.expectEvents('messaging.suppression.lifted.v1', organizationId, 1);
    const created = world.probe.events('messaging.suppression.created.v1', organizationId);
    expect(created).toHaveLength(1);
    for (const event of [created[0], lifted]) {
      expect(event?.data).toEqual({
        suppression_id: made.body.id,
        channel: 'email',
        reason: 'manual',
        actor: { type: 'api_key', id: expect.any(String) as string },
      });
      expect(JSON.stringify(event)).not.toContain(body.address);
    }
  });
});
