import { randomUUID } from 'node:crypto';
import { aSend, aTemplate, messagingWorld, send, settled, type MessagingWorld } from './messaging.fixture.js';

const LATER = (): string => new Date(Date.now() + 3_600_000).toISOString();

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
  world.probe.collect('messaging');
});
afterAll(() => world.close());
beforeEach(() => {
  world.mail.treat = () => undefined;
});

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

  it.each([
    ['bounced', 'provider_rejected', { code: 550, text: '5.7.1 no' }, {}],
    ['failed', 'render_failed', undefined, { content: { subject: '{{ data.nothing }}', text: 'x' } }],
  ] as const)('of a send that has %s, with its reason %s', async (state, reason, treatment, overrides) => {
    const { id: organizationId, api } = world.organization();
    world.mail.treat = () => treatment;
    const id = await send(api, aSend({ metadata: { order: '7' }, ...overrides }));
    await settled(api, id, state);
    const [event] = await world.probe.expectEvents(`messaging.send.${state}.v1`, organizationId, 1);
    expect(event?.data).toMatchObject({ send_id: id, reason, campaign_id: null, metadata: { order: '7' } });
  });

  it('of a send that was suppressed after it was taken', async () => {
    const { id: organizationId, api } = world.organization();
    const address = `${randomUUID()}@example.com`;
    const id = await send(api, aSend({ recipient: { address }, not_before: LATER() }));
    await api.post('/v1/messaging/suppressions', { channel: 'email', address });
    await world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [id]);
    const [event] = await world.probe.expectEvents('messaging.send.suppressed.v1', organizationId, 1);
    expect(event?.data).toMatchObject({ send_id: id, reason: 'recipient_suppressed', channel: 'email' });
  });
});
