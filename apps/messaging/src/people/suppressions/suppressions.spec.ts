import { randomUUID } from 'node:crypto';
import { PERMISSIONS } from '@customer-platform/permissions';
import { aSend, messagingWorld, send, settled, type MessagingWorld } from '../../messaging.fixture.js';

const PATH = '/v1/messaging/suppressions';

interface Shown {
  id: string;
  address: string;
  scope: string;
  reason: string;
  created_by: { type: string; id: string };
}

describe('suppressions', () => {
  let world: MessagingWorld;
  beforeAll(async () => {
    world = await messagingWorld({ consume: false });
  });
  afterAll(() => world.close());

  async function refused(
    api: ReturnType<MessagingWorld['organization']>['api'],
    address: string,
  ): Promise<boolean> {
    const answer = await api.post<{ code: string }>(
      '/v1/messaging/sends',
      aSend({ recipient: { address } }),
      { 'idempotency-key': randomUUID() },
    );
    return answer.status === 422 && answer.body.code === 'recipient_suppressed';
  }

  it('201, then 200 with the first row', async () => {
    const { api } = world.organization();
    const first = await api.post<Shown>(PATH, {
      channel: 'email',
      address: 'Ana@Example.com',
      note: 'asked by phone',
    });
    expect(first).toMatchObject({
      status: 201,
      body: {
        address: 'ana@example.com',
        scope: 'address',
        reason: 'manual',
        created_by: { type: 'api_key' },
      },
    });
    expect(first.headers.get('location')).toBe(`${PATH}/${first.body.id}`);
    const again = await api.post<Shown>(PATH, {
      channel: 'email',
      address: 'ANA@EXAMPLE.COM',
      reason: 'complaint',
    });
    expect(again).toMatchObject({ status: 200, body: first.body });
  });

  it.each([
    [
      'ana@example.com',
      ['ana@example.com', 'ANA@Example.COM', 'ana+x@example.com', 'Ana+Y+z@EXAMPLE.com'],
      ['an.a@example.com', 'ana@other.example'],
    ],
    [
      'ana@bücher.example',
      ['ana@XN--BCHER-KVA.example', 'ana@BU\u0308CHER.example', 'ana+t@bücher.example'],
      ['ana@bucher.example'],
    ],
    [
      'ana+news@example.com',
      ['ana+news@example.com', 'ANA+NEWS@example.com'],
      ['ana@example.com', 'ana+other@example.com'],
    ],
  ])('of %s stops every spelling and nobody else', async (suppressed, stopped, free) => {
    const { api } = world.organization();
    await api.post(PATH, { channel: 'email', address: suppressed });
    for (const address of stopped) expect([address, await refused(api, address)]).toEqual([address, true]);
    for (const address of free) expect([address, await refused(api, address)]).toEqual([address, false]);
  });

  it('of a domain stops all of it, every category', async () => {
    const { api } = world.organization();
    expect((await api.post(PATH, { channel: 'email', address: 'Example.COM', scope: 'domain' })).status).toBe(
      201,
    );
    expect(await refused(api, 'anybody+x@example.com')).toBe(true);
    expect(await refused(api, 'anybody@sub.example.com')).toBe(false);
  });

  it('made after the acceptance ends the send as suppressed', async () => {
    const { api } = world.organization();
    const address = `${randomUUID()}@example.com`;
    const id = await send(
      api,
      aSend({ recipient: { address }, not_before: new Date(Date.now() + 3_600_000).toISOString() }),
    );
    await api.post(PATH, { channel: 'email', address });
    await world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [id]);
    expect(await settled(api, id, 'suppressed')).toMatchObject({
      reason: 'recipient_suppressed',
      attempts: 0,
    });
    expect(world.mail.to(address)).toEqual([]);
  });

  it.each([
    ['by id', (id: string) => [`${PATH}/${id}`, undefined] as const],
    ['by query', () => [`${PATH}?channel=email&address=ana%40EXAMPLE.com`, undefined] as const],
    ['by body', () => [PATH, { channel: 'email', address: 'Ana@example.com' }] as const],
  ])('is lifted %s, audited with its actor; again 404', async (_form, call) => {
    const { id: organizationId, api } = world.organization();
    const { body } = await api.post<Shown>(PATH, { channel: 'email', address: 'ana@example.com' });
    const [path, given] = call(body.id);
    expect((await api.delete(path, { body: given })).status).toBe(204);
    expect(await refused(api, 'ana@example.com')).toBe(false);
    expect(await api.delete(path, { body: given })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const audit = await world.database.query(
      'SELECT action, actor_type, actor_id, resource_id FROM audit_entries WHERE organization_id = $1 ORDER BY occurred_at, id',
      [organizationId],
    );
    expect(audit).toEqual([
      {
        action: 'messaging.suppressions.create',
        actor_type: 'api_key',
        actor_id: body.created_by.id,
        resource_id: body.id,
      },
      {
        action: 'messaging.suppressions.delete',
        actor_type: 'api_key',
        actor_id: body.created_by.id,
        resource_id: body.id,
      },
    ]);
  });

  it('lifts a domain by its name', async () => {
    const { api } = world.organization();
    await api.post(PATH, { channel: 'email', address: 'example.com', scope: 'domain' });
    expect((await api.delete(`${PATH}?channel=email&address=example.com`)).status).toBe(204);
  });

  it.each([
    [{ channel: 'email', address: 'Ana <ana@example.com>' }, 'invalid_address', '/address', 400],
    [{ channel: 'email', address: 'not a domain', scope: 'domain' }, 'invalid_address', '/address', 400],
    [{ channel: 'sms', address: '961234567' }, 'invalid_address', '/address', 400],
    [{ channel: 'sms', address: 'example.com', scope: 'domain' }, 'invalid_address', '/address', 400],
    [{ channel: 'fax', address: 'x' }, 'validation_failed', '/channel', 400],
    [{ channel: 'email' }, 'validation_failed', '/address', 400],
  ])('refuses %j', async (body, code, pointer, status) => {
    const { api } = world.organization();
    expect(await api.post(PATH, body)).toMatchObject({ status, body: { code, errors: [{ pointer }] } });
  });

  it('names what a DELETE without its key lacks, and deletes nothing', async () => {
    const { api } = world.organization();
    await api.post(PATH, { channel: 'email', address: 'ana@example.com' });
    expect(await api.delete(PATH)).toMatchObject({
      status: 400,
      body: { errors: [{ parameter: 'channel' }, { parameter: 'address' }] },
    });
    expect(await refused(api, 'ana@example.com')).toBe(true);
  });

  it('lists by any spelling, and pages', async () => {
    const { api } = world.organization();
    for (const address of ['a@example.com', 'b@example.com', 'c@example.com'])
      await api.post(PATH, { channel: 'email', address });
    const one = await api.get<{ data: Shown[] }>(`${PATH}?address=B%40Example.com`);
    expect(one.body.data.map(({ address }) => address)).toEqual(['b@example.com']);
    expect((await api.get<{ data: Shown[] }>(`${PATH}?address=nothing`)).body.data).toEqual([]);
    const first = await api.get<{ data: Shown[]; page: { next_cursor: string } }>(`${PATH}?limit=2`);
    const second = await api.get<{ data: Shown[]; page: { next_cursor: null } }>(
      `${PATH}?limit=2&cursor=${first.body.page.next_cursor}`,
    );
    expect([...first.body.data, ...second.body.data].map(({ address }) => address)).toEqual([
      'c@example.com',
      'b@example.com',
      'a@example.com',
    ]);
    expect(second.body.page.next_cursor).toBeNull();
  });

  it('stops nobody in another organization, and is found by nobody there', async () => {
    const [mine, other] = [world.organization(), world.organization()];
    const { body } = await mine.api.post<Shown>(PATH, { channel: 'email', address: 'ana@example.com' });
    expect(await refused(other.api, 'ana@example.com')).toBe(false);
    expect((await other.api.get<{ data: Shown[] }>(PATH)).body.data).toEqual([]);
    expect(await other.api.delete(`${PATH}/${body.id}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect(await refused(mine.api, 'ana@example.com')).toBe(true);
  });

  it.each([
    ['GET', 'messaging.suppressions.read'],
    ['POST', 'messaging.suppressions.create'],
    ['DELETE', 'messaging.suppressions.delete'],
  ] as const)('%s needs %s', async (method, permission) => {
    const { id } = world.organization();
    const others = world.app.as(
      id,
      PERMISSIONS.filter((one) => one !== permission),
    );
    expect(await others.call(method, PATH, method === 'POST' ? { body: {} } : {})).toMatchObject({
      status: 403,
      body: { code: 'permission_denied', permission },
    });
    expect(
      (await world.app.as(id, [permission]).call(method, PATH, method === 'POST' ? { body: {} } : {})).status,
    ).not.toBe(403);
  });

  it('never lets an address into a log or an audit row', async () => {
    const { id: organizationId, api } = world.organization();
    await api.post(PATH, { channel: 'email', address: 'secret.person@example.com' });
    const rows = await world.database.query<{ row: string }>(
      'SELECT audit_entries::text AS row FROM audit_entries WHERE organization_id = $1',
      [organizationId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain('secret.person');
  });
});
