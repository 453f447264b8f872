import { newId } from '@customer-platform/database';
import { Caller, eventually, kafkaProbe, peerModule, serviceTokens } from '@customer-platform/testing';
import { accepted, anIdentify, startCore, type TestCore, processing, START_MS } from '../../core.fixture.js';

interface Found {
  id: string;
  state: string;
  merged_into: string | null;
  version: number;
  contact: Record<string, unknown> | null;
}

describe('contacts between modules', () => {
  let core: TestCore;
  let organizationId: string;
  let contactId: string;
  beforeAll(async () => {
    core = await startCore();
    await processing(core);
    const { id, caller } = core.anOrganization();
    organizationId = id;
    const traits = { email: 'Ana@example.cl', phone: '+56912345678', locale: 'es-CL', plan: 'gold' };
    const identities = [{ type: 'custom.push_token', value: 'token-1' }];
    await accepted(caller, anIdentify({ external_id: 'ana', traits, identities }), '/v1/core/identify');
    contactId = await eventually(async () => {
      const [row] = await core.database.query<{ id: string }>(
        'SELECT id FROM contacts WHERE organization_id = $1',
        [id],
      );
      return row?.id ?? Promise.reject(new Error('not there yet'));
    });
  }, START_MS);
  afterAll(() => core.close());

  const as = (module: string) => peerModule(module, 'core', core.app.internalUrl);
  const lookup = async (ids: string[], organization = organizationId) => {
    const body = { organization_id: organization, ids };
    return (await (await as('crm')).post<{ data: Found[] }>('/internal/contacts/lookup', body)).body.data;
  };
  const address = async (body: object) =>
    (await as('messaging')).post('/internal/contacts/address', { organization_id: organizationId, ...body });

  it('are looked up by id, with state and profile; those of nobody are left out', async () => {
    expect(await lookup([contactId, newId()])).toEqual([
      {
        id: contactId,
        state: 'active',
        merged_into: null,
        version: 1,
        contact: expect.objectContaining({
          external_id: 'ana',
          email: 'Ana@example.cl',
          attributes: { plan: 'gold' },
          state: 'active',
        }) as unknown,
      },
    ]);
    expect(await lookup([contactId], newId())).toEqual([]);
  });

  it('are looked up by an id of any version, or of none, as callers of other modules may name one', async () => {
    const ofNoVersion = '01234567-89ab-cdef-0123-456789abcdef';
    const found = await lookup([contactId.toUpperCase(), ofNoVersion]);
    expect(found.map(({ id }) => id)).toEqual([contactId]);
  });

  it.each([
    ['email', 'Ana@example.cl'],
    ['sms', '+56912345678'],
    ['whatsapp', '+56912345678'],
    ['push', 'token-1'],
  ])('have an address for %s', async (channel, expected) => {
    for (const who of [{ contact_id: contactId }, { external_id: 'ana' }]) {
      expect(await address({ ...who, channel })).toMatchObject({
        status: 200,
        body: { contact_id: contactId, state: 'active', channel, address: expected, locale: 'es-CL' },
      });
    }
    expect((await address({ contact_id: contactId, channel: 'in_app' })).body).toMatchObject({
      address: contactId,
    });
  });

  it('have devices, of many at once, each once it is told of', async () => {
    const { id, caller } = core.anOrganization();
    const probe = kafkaProbe(core.app);
    probe.collect('core');
    const names = ['one', 'two'] as const;
    let minute = 10;
    const identify = async (external: string, token: string): Promise<void> => {
      const identities = [{ type: 'custom.push_token', value: token }];
      const occurred_at = `2026-01-15T12:${String((minute += 1))}:00.000Z`;
      const body = anIdentify({ external_id: external, occurred_at, identities });
      await accepted(caller, body, '/v1/core/identify');
    };
    for (const name of names) await identify(name, `${name}-1`);
    await identify('one', 'one-2');
    const added = await probe.expectEvents('core.identity.added.v1', id, 5);
    const told = added.flatMap(({ data }) => ('push_token' in data ? [data] : []));
    expect(told.map((data) => (data.push_token as { value: string }).value).sort()).toEqual([
      'one-1',
      'one-2',
      'two-1',
    ]);
    const contacts = [...new Set(told.map((data) => data.contact_id))];
    const devices = async (ids: string[], organization = id) => {
      const body = { organization_id: organization, ids };
      const answer = await (
        await as('messaging')
      ).post<{ data: object[] }>('/internal/contacts/devices', body);
      return answer.body.data;
    };
    expect((await devices(contacts)).map((device) => (device as { value: string }).value).sort()).toEqual([
      'one-1',
      'one-2',
      'two-1',
    ]);
    expect(await devices(contacts, newId())).toEqual([]);
    // Seen again, it is the latest again; seen once more, it still is.
    await identify('one', 'one-1');
    await identify('one', 'one-1');
    await identify('one', 'one-3');
    await probe.expectEvents('core.identity.added.v1', id, 6);
    const seen = await probe.expectEvents('core.identity.seen.v1', id, 1);
    expect(seen.map(({ data }) => data.push_token)).toEqual([
      { value: 'one-1', seen_at: expect.any(String) as string },
    ]);
  });

  it('are told of no late device that is not their latest, and of the latest once a day', async () => {
    const { id, caller } = core.anOrganization();
    const probe = kafkaProbe(core.app);
    probe.collect('core');
    const identify = async (value: string, occurred_at: string): Promise<void> => {
      const identities = [{ type: 'custom.push_token', value }];
      await accepted(
        caller,
        anIdentify({ external_id: 'ana', occurred_at, identities }),
        '/v1/core/identify',
      );
    };
    await identify('first', '2026-01-15T12:10:00.000Z');
    await identify('first', '2026-01-15T12:50:00.000Z');
    await identify('late', '2026-01-15T12:30:00.000Z');
    await identify('first', '2026-01-16T00:00:00.000Z');
    await identify('last', '2026-01-16T12:00:00.000Z');
    const added = await probe.expectEvents('core.identity.added.v1', id, 4);
    const devices = added.filter(({ data }) => data.type === 'custom.push_token');
    expect(devices.map(({ data }) => data.push_token?.value)).toEqual(['first', undefined, 'last']);
    const seen = await probe.expectEvents('core.identity.seen.v1', id, 1);
    expect(seen.map(({ data }) => data.push_token)).toEqual([
      { value: 'first', seen_at: '2026-01-16T00:00:00.000Z' },
    ]);
  });

  it('are read as their survivor once merged, and have no address once deleted', async () => {
    const merged = newId();
    await core.database.query(
      `INSERT INTO contacts (organization_id, id, source, merged_into) VALUES ($1, $2, 'track', $3)`,
      [organizationId, merged, contactId],
    );
    expect(await lookup([merged])).toMatchObject([
      { state: 'merged', merged_into: contactId, contact: null },
    ]);
    expect((await address({ contact_id: merged, channel: 'email' })).body).toMatchObject({
      contact_id: contactId,
    });
    const deleted = newId();
    await core.database.query(
      `INSERT INTO contacts (organization_id, id, source, email, deleted_at) VALUES ($1, $2, 'track', 'x@y.cl', now())`,
      [organizationId, deleted],
    );
    expect(await lookup([deleted])).toMatchObject([{ state: 'deleted', contact: { state: 'deleted' } }]);
    expect((await address({ contact_id: deleted, channel: 'email' })).body).toMatchObject({
      state: 'deleted',
      address: null,
    });
  });

  it('refuse what is wrong', async () => {
    expect(await address({ contact_id: newId(), channel: 'email' })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect(await address({ external_id: 'nobody', channel: 'email' })).toMatchObject({ status: 404 });
    expect(await address({ channel: 'email' })).toMatchObject({ status: 400 });
    expect(await address({ contact_id: contactId, channel: 'pigeon' })).toMatchObject({ status: 400 });
    const ids = Array.from({ length: 1_001 }, () => newId());
    const many = await (
      await as('crm')
    ).post('/internal/contacts/lookup', { organization_id: organizationId, ids });
    expect(many).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  });

  it('are for the listed modules, on the internal listener only', async () => {
    const body = { organization_id: organizationId, ids: [] };
    const path = '/internal/contacts/lookup';
    expect(await new Caller(core.app.internalUrl).post(path, body)).toMatchObject({ status: 401 });
    expect(await (await as('identity')).post(path, body)).toMatchObject({ status: 403 });
    const outside = new Caller(core.app.url, serviceTokens('crm', 'core'));
    expect(await outside.post(path, body)).toMatchObject({ status: 404, body: { code: 'route_not_found' } });
  });
});
