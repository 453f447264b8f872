import { PERMISSIONS } from '@customer-platform/permissions';
import { itBehavesLikeASoftDeletableResource } from '@customer-platform/testing';
import { ALL_PERMISSIONS, messagingWorld, type MessagingWorld } from '../messaging.fixture.js';

const ENDPOINTS = '/v1/messaging/webhook-endpoints';

interface Shown {
  id: string;
  secret?: string;
  disabled_reason: string | null;
  enabled: boolean;
  events: string[];
}

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

function anEndpoint(overrides: Record<string, unknown> = {}) {
  return {
    name: 'Orders',
    url: 'http://127.0.0.1:9/hooks',
    events: ['core.contact.created'],
    ...overrides,
  };
}

describe('webhook endpoints', () => {
  itBehavesLikeASoftDeletableResource({
    app: () => world.app,
    path: ENDPOINTS,
    permissions: {
      read: 'messaging.webhooks.read',
      create: 'messaging.webhooks.create',
      update: 'messaging.webhooks.update',
      delete: 'messaging.webhooks.delete',
      purge: 'messaging.webhooks.purge',
    },
    needsBeside: ['messaging.webhooks.read'],
    body: (number) =>
      anEndpoint({ name: `Endpoint ${number}`, events: ['messaging.webhook_endpoint.disabled'] }),
    patch: (number) => ({ url: `http://127.0.0.1:9/${number}` }),
    unique: 'name',
    shownOnce: ['secret'],
  });
});

describe('POST /v1/messaging/webhook-endpoints', () => {
  it('shows the secret once', async () => {
    const { api } = world.organization();
    const created = await api.post<Shown>(ENDPOINTS, anEndpoint());
    expect(created).toMatchObject({ status: 201, body: { signing: 'v1', recent_deliveries: [] } });
    expect(created.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const read = await api.get<Shown>(`${ENDPOINTS}/${created.body.id}`);
    const listed = await api.get<{ data: Shown[] }>(ENDPOINTS);
    const changed = await api.patch<Shown>(`${ENDPOINTS}/${created.body.id}`, { name: 'Others' });
    for (const { body } of [read, listed, changed]) expect(JSON.stringify(body)).not.toMatch(/whsec_|sealed/);
    const rows = await world.database.query<{ secrets: unknown }>('SELECT secrets FROM webhook_endpoints');
    expect(JSON.stringify(rows)).not.toContain('whsec_');
  });

  it.each([
    [{ url: 'https://user:pw@example.com/x' }, '/url', 'invalid_format', 400],
    [{ url: 'https://user@example.com/x' }, '/url', 'invalid_format', 400],
    [{ url: 'https://example.com/x#part' }, '/url', 'invalid_format', 400],
    [{ url: 'http://example.com/x' }, '/url', 'invalid_format', 400],
    [{ url: 'ftp://127.0.0.1/x' }, '/url', 'invalid_format', 400],
    [{ url: 'not an address' }, '/url', 'invalid_format', 400],
    [{ url: '' }, '/url', 'too_short', 400],
    [{ events: [] }, '/events', 'too_short', 400],
    [{ events: ['core.contact.created', 'core.contact.created'] }, '/events', 'duplicate_item', 400],
    [{ events: ['core.contact.created.v1'] }, '/events', 'invalid_enum', 400],
    [{ events: ['console.*'] }, '/events', 'invalid_enum', 400],
    [{ signing: 'v2' }, '/signing', 'invalid_enum', 400],
    [{ url: 'https://10.0.0.1/x' }, '/url', 'destination_not_allowed', 422],
    [{ url: 'https://[fd00::1]/x' }, '/url', 'destination_not_allowed', 422],
  ])('refuses %j', async (wrong, pointer, code, status) => {
    const { api } = world.organization();
    const answer = await api.post<{ errors: unknown[] }>(ENDPOINTS, anEndpoint(wrong));
    expect(answer.status).toBe(status);
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('takes all of a module, another one’s too', async () => {
    const { api } = world.organization(PERMISSIONS);
    const events = ['messaging.*', 'loyalty.points.earned', 'identity.invitation.created'];
    const answer = await api.post<Shown>(ENDPOINTS, anEndpoint({ events, enabled: false }));
    expect(answer).toMatchObject({
      status: 201,
      body: { events, enabled: false, disabled_reason: 'manual' },
    });
  });

  it('409 limit_reached beyond 50', async () => {
    const { api } = world.organization();
    const create = async (number: number): ReturnType<typeof api.post> => {
      const answer = await api.post(ENDPOINTS, anEndpoint({ name: `E ${number}` }));
      // Found no connection in the crowd: nothing was stored, and the caller asks again.
      return answer.status === 503 ? create(number) : answer;
    };
    const answers = await Promise.all(Array.from({ length: 51 }, (_, number) => create(number)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(50).fill(201), 409]);
    expect(answers.find(({ status }) => status === 409)).toMatchObject({ body: { code: 'limit_reached' } });
  });
});

describe('PATCH /v1/messaging/webhook-endpoints/{id}', () => {
  it('checks a new address as a first one', async () => {
    const { api } = world.organization();
    const { body } = await api.post<Shown>(ENDPOINTS, anEndpoint());
    const patch = (url: string) => api.patch(`${ENDPOINTS}/${body.id}`, { url });
    expect(await patch('https://192.168.1.1/')).toMatchObject({
      status: 422,
      body: { code: 'destination_not_allowed' },
    });
    expect(await patch('https://me@example.com/')).toMatchObject({ status: 400 });
  });

  it('says why it is disabled, and no longer when it is enabled', async () => {
    const { api } = world.organization();
    const { body } = await api.post<Shown>(ENDPOINTS, anEndpoint());
    const patch = (enabled: boolean) => api.patch<Shown>(`${ENDPOINTS}/${body.id}`, { enabled });
    expect((await patch(false)).body).toMatchObject({ enabled: false, disabled_reason: 'manual' });
    expect((await patch(true)).body).toMatchObject({ enabled: true, disabled_reason: null });
  });

  it('rotates the secret and shows the new one in that answer alone', async () => {
    const { api } = world.organization();
    const created = await api.post<Shown>(ENDPOINTS, anEndpoint());
    const path = `${ENDPOINTS}/${created.body.id}`;
    const rotated = await api.patch<Shown>(path, { rotate_secret: true });
    expect(rotated.body.secret).toMatch(/^whsec_/);
    expect(rotated.body.secret).not.toBe(created.body.secret);
    expect((await api.patch<Shown>(path, { rotate_secret: false })).body.secret).toBeUndefined();
    expect((await api.get<Shown>(path)).body.secret).toBeUndefined();
    const [entry] = await world.database.query<{ changed_fields: string[] }>(
      `SELECT changed_fields FROM audit_entries WHERE resource_id = $1 AND action = 'messaging.webhooks.update'`,
      [created.body.id],
    );
    expect(entry?.changed_fields).toEqual(['secret']);
  });

  it('needs the right to change, not the right to read', async () => {
    const { id, api } = world.organization();
    const { body } = await api.post<Shown>(ENDPOINTS, anEndpoint());
    const rest = ALL_PERMISSIONS.filter((permission) => permission !== 'messaging.webhooks.update');
    const patch = await world.app.as(id, rest).patch(`${ENDPOINTS}/${body.id}`, { rotate_secret: true });
    expect(patch).toMatchObject({ status: 403, body: { permission: 'messaging.webhooks.update' } });
  });
});
