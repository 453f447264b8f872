import { eventually, kafkaProbe, type KafkaProbe } from '@customer-platform/testing';
import {
  accepted,
  aTrack,
  anIdentify,
  startCore,
  type TestCore,
  processing,
  START_MS,
} from '../core.fixture.js';

interface Usage {
  totals: { events: Record<string, number> };
}

interface Listed {
  data: Record<string, unknown>[];
}

describe('an accepted event', () => {
  let core: TestCore;
  let probe: KafkaProbe;
  beforeAll(async () => {
    core = await startCore();
    await processing(core);
    probe = kafkaProbe(core.app);
    probe.collect('core');
  }, START_MS);
  afterAll(() => core.close());

  const rowsOf = (table: string, organizationId: string) =>
    core.database.query(`SELECT * FROM ${table} WHERE organization_id = $1 ORDER BY created_at, id`, [
      organizationId,
    ]);

  const stored = (organizationId: string, count: number) =>
    eventually(async () => {
      const rows = await rowsOf('events', organizationId);
      expect(rows).toHaveLength(count);
      return rows;
    });

  it('is stored on a new contact and told under its own id', async () => {
    const { id, caller } = core.anOrganization();
    const body = aTrack({ external_id: 'ana', properties: { amount: 5, note: 'ñandú "x" \\ {' } });
    const answer = await caller.post<{ event_id: string }>('/v1/core/track', body);
    const eventId = answer.body.event_id;
    await stored(id, 1);
    const [contact] = await rowsOf('contacts', id);
    expect(contact).toMatchObject({ external_id: 'ana', version: 1, source: 'track' });
    const [recorded] = await probe.expectEvents('core.event.recorded.v1', id, 1);
    expect(recorded).toMatchObject({ id: eventId, correlationid: eventId });
    expect(recorded?.data).toMatchObject({
      event_id: eventId,
      contact_id: contact?.id,
      properties: body.properties,
    });
    const [created] = await probe.expectEvents('core.contact.created.v1', id, 1);
    expect(created).toMatchObject({
      correlationid: eventId,
      data: { contact_id: contact?.id, version: 1, contact: { external_id: 'ana', state: 'active' } },
    });
    await probe.expectEvents('core.identity.added.v1', id, 1);
    const page = await caller.get<Listed>(`/v1/core/events?correlation_id=${eventId}`);
    expect(page.body.data).toMatchObject([
      {
        id: eventId,
        type: 'track',
        contact_id: contact?.id,
        correlation_id: eventId,
        properties: body.properties,
      },
    ]);
  });

  it('makes one contact of 50 first events at once', async () => {
    const { id, caller } = core.anOrganization();
    const bodies = Array.from({ length: 50 }, () => aTrack({ external_id: 'ana' }));
    await Promise.all(bodies.map((body) => caller.post('/v1/core/track', body)));
    const rows = await stored(id, 50);
    expect(new Set(rows.map(({ contact_id }) => contact_id)).size).toBe(1);
    expect(await rowsOf('contacts', id)).toHaveLength(1);
  });

  it('is one of 1,000 parallel duplicates', async () => {
    const { id, caller } = core.anOrganization();
    const body = aTrack();
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => accepted(caller, body)));
    expect(new Set(answers.map(({ event_id }) => event_id)).size).toBe(1);
    await eventually(
      async () => {
        const { events } = (await caller.get<Usage>('/v1/core/usage')).body.totals;
        expect(events).toMatchObject({ stored: 1, dead_lettered: 0, pending: 0 });
        // An event whose acknowledgement came too late was sent, and counted, again.
        expect(events['accepted']).toBeGreaterThanOrEqual(1_000);
        expect(events['duplicates']).toBe((events['accepted'] ?? 0) - 1);
      },
      { within: 60_000 },
    );
    expect(await rowsOf('events', id)).toHaveLength(1);
    expect(await rowsOf('contacts', id)).toHaveLength(1);
  }, 120_000);

  it('with another body under the same key becomes a closed dead letter, and its repeats duplicates', async () => {
    const { id, caller } = core.anOrganization();
    const first = aTrack({ idempotency_key: 'INV-1' });
    const second = { ...first, external_id: 'someone-else' };
    await caller.post('/v1/core/track', first);
    await stored(id, 1);
    await caller.post('/v1/core/track', second);
    await caller.post('/v1/core/batch', { events: [{ type: 'track', ...first }, second] });
    await eventually(async () => {
      const usage = await caller.get('/v1/core/usage');
      expect(usage.body).toMatchObject({
        totals: { events: { accepted: 4, stored: 1, duplicates: 2, dead_lettered: 1, pending: 0 } },
      });
    });
    const letters = await caller.get<Listed>('/v1/core/dead-letters');
    expect(letters.body.data).toMatchObject([
      {
        code: 'idempotency_key_conflict',
        state: 'closed',
        closed_reason: 'idempotency_key_conflict',
        stage: 'store',
        payload: JSON.stringify(second),
        external_id: 'someone-else',
      },
    ]);
    expect(letters.body.data[0]?.['event_id']).toBe(letters.body.data[0]?.['correlation_id']);
    const replay = await caller.post(`/v1/core/dead-letters/${String(letters.body.data[0]?.['id'])}/replay`);
    expect(replay).toMatchObject({ status: 409, body: { code: 'not_replayable' } });
    expect(await rowsOf('contacts', id)).toHaveLength(1);
    const [told] = await probe.expectEvents('core.event.dead_lettered.v1', id, 1);
    expect(told?.data).toMatchObject({ stage: 'store', code: 'idempotency_key_conflict' });
  });

  it('of two organizations with one key is two events', async () => {
    const one = core.anOrganization();
    const other = core.anOrganization();
    const body = aTrack({ idempotency_key: 'INV-1', external_id: 'ana' });
    const answers = await Promise.all(
      [one, other].map(({ caller }) => caller.post<{ event_id: string }>('/v1/core/track', body)),
    );
    expect(answers[0]?.body.event_id).not.toBe(answers[1]?.body.event_id);
    await Promise.all([stored(one.id, 1), stored(other.id, 1)]);
    const page = await other.caller.get<Listed>(
      `/v1/core/events?correlation_id=${answers[0]?.body.event_id}`,
    );
    expect(page.body.data).toEqual([]);
  });

  it('keeps the order of its contact', async () => {
    const { id, caller } = core.anOrganization();
    const names = Array.from({ length: 30 }, (_, at) => `name ${at}`);
    for (const first_name of names) {
      await caller.post('/v1/core/identify', anIdentify({ external_id: 'ana', traits: { first_name } }));
    }
    await stored(id, 30);
    const updates = await probe.expectEvents('core.contact.updated.v1', id, 29);
    expect(updates.map(({ data }) => data.contact.first_name)).toEqual(names.slice(1));
    expect(updates.map(({ data }) => data.version)).toEqual(names.slice(1).map((_, at) => at + 2));
    expect(await rowsOf('contacts', id)).toMatchObject([{ first_name: 'name 29', version: 30 }]);
  });

  it('of a soft-deleted contact is stored without any effect', async () => {
    const { id, caller } = core.anOrganization();
    await caller.post('/v1/core/track', aTrack({ external_id: 'ana' }));
    await stored(id, 1);
    await core.database.query('UPDATE contacts SET deleted_at = now() WHERE organization_id = $1', [id]);
    await caller.post('/v1/core/track', aTrack({ external_id: 'ana' }));
    await caller.post(
      '/v1/core/identify',
      anIdentify({ external_id: 'ana', traits: { email: 'ana@example.cl' } }),
    );
    await caller.post('/v1/core/track', aTrack({ external_id: 'berta' }));
    const rows = await stored(id, 4);
    expect(new Set(rows.map(({ contact_id }) => contact_id)).size).toBe(2);
    expect(await rowsOf('contacts', id)).toMatchObject([
      { version: 1, email: null },
      { external_id: 'berta' },
    ]);
    await probe.expectEvents('core.event.recorded.v1', id, 2);
    expect(probe.events('core.contact.updated.v1', id)).toEqual([]);
  });
});

describe('an identify', () => {
  let core: TestCore;
  beforeAll(async () => {
    core = await startCore();
    await processing(core);
  }, START_MS);
  afterAll(() => core.close());

  const identify = async (
    organization: ReturnType<TestCore['anOrganization']>,
    body: Record<string, unknown>,
  ) => {
    const answer = await organization.caller.post<{ event_id: string }>(
      '/v1/core/identify',
      anIdentify(body),
    );
    expect(answer.status).toBe(202);
    return eventually(async () => {
      const path = `/v1/core/events?correlation_id=${answer.body.event_id}`;
      const [event] = (await organization.caller.get<Listed>(path)).body.data;
      expect(event).toBeDefined();
      return event;
    });
  };

  it('attaches identities, and skips what is malformed with a warning', async () => {
    const organization = core.anOrganization();
    const event = await identify(organization, {
      external_id: 'ana',
      traits: { email: 'Ana@Example.cl', phone: 'nonsense', plan: 'gold' },
      identities: [
        { type: 'device_id', value: 'd-1' },
        { type: 'custom.push_token', value: 'token' },
        { type: 'email', value: 'not an address' },
      ],
    });
    expect(event?.['warnings']).toEqual([
      { pointer: '/traits/phone', code: 'invalid_format' },
      { pointer: '/identities/2/value', code: 'invalid_format' },
    ]);
    const identities = await core.database.query(
      'SELECT type, value, normal_value FROM identities WHERE organization_id = $1 ORDER BY type',
      [organization.id],
    );
    expect(identities).toEqual([
      { type: 'custom.push_token', value: 'token', normal_value: 'token' },
      { type: 'device_id', value: 'd-1', normal_value: 'd-1' },
      { type: 'email', value: 'Ana@Example.cl', normal_value: 'ana@example.cl' },
      { type: 'external_id', value: 'ana', normal_value: 'ana' },
    ]);
  });

  it('keeps a field whose identity belongs to another contact, unclaimed and with a warning', async () => {
    const organization = core.anOrganization();
    await identify(organization, { external_id: 'ana', traits: { email: 'shared@example.cl' } });
    const event = await identify(organization, {
      external_id: 'berta',
      traits: { email: 'SHARED@example.cl' },
    });
    expect(event?.['warnings']).toEqual([{ pointer: '/traits/email', code: 'identity_taken' }]);
    const contacts = await core.database.query(
      'SELECT external_id, email FROM contacts WHERE organization_id = $1 ORDER BY external_id',
      [organization.id],
    );
    expect(contacts).toEqual([
      { external_id: 'ana', email: 'shared@example.cl' },
      { external_id: 'berta', email: 'SHARED@example.cl' },
    ]);
    const owners = await core.database.query(
      `SELECT contacts.external_id FROM identities JOIN contacts ON contacts.id = identities.contact_id
        WHERE identities.organization_id = $1 AND identities.type = 'email'`,
      [organization.id],
    );
    expect(owners).toEqual([{ external_id: 'ana' }]);
  });

  it('gives up the least recently seen device beyond 20, and adds no sixth address', async () => {
    const organization = core.anOrganization();
    const at = (second: number) => `2026-01-15T12:00:${String(second).padStart(2, '0')}.000Z`;
    for (let second = 0; second < 21; second += 1) {
      await identify(organization, {
        external_id: 'ana',
        occurred_at: at(second),
        traits: {},
        identities: [{ type: 'device_id', value: `d-${second}` }],
      });
    }
    const emails = Array.from({ length: 6 }, (_, index) => ({
      type: 'email',
      value: `a${index}@example.cl`,
    }));
    const event = await identify(organization, { external_id: 'ana', traits: {}, identities: emails });
    expect(event?.['warnings']).toEqual([{ pointer: '/identities/5/value', code: 'limit_reached' }]);
    const rows = await core.database.query<{ type: string; value: string }>(
      'SELECT type, value FROM identities WHERE organization_id = $1',
      [organization.id],
    );
    const devices = rows.filter(({ type }) => type === 'device_id').map(({ value }) => value);
    expect(devices).toHaveLength(20);
    expect(devices).not.toContain('d-0');
    expect(rows.filter(({ type }) => type === 'email')).toHaveLength(5);
  });

  it('never overwrites what is newer', async () => {
    const organization = core.anOrganization();
    await identify(organization, {
      external_id: 'ana',
      occurred_at: '2026-02-01T00:00:00Z',
      traits: { last_name: 'New' },
    });
    await identify(organization, {
      external_id: 'ana',
      occurred_at: '2026-01-01T00:00:00Z',
      traits: { last_name: 'Old', first_name: 'Ana' },
    });
    const contacts = await core.database.query(
      'SELECT first_name, last_name, version FROM contacts WHERE organization_id = $1',
      [organization.id],
    );
    expect(contacts).toEqual([{ first_name: 'Ana', last_name: 'New', version: 2 }]);
  });
});
