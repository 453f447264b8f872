import { eventually, type Caller } from '@customer-platform/testing';
import { newId } from '@customer-platform/database';
import { aTrack, anIdentify, startCore, type TestCore, processing, START_MS } from '../core.fixture.js';

interface Event extends Record<string, unknown> {
  id: string;
  occurred_at: string;
  contact_id: string;
}

interface Listed {
  data: Event[];
  page: { limit: number; next_cursor: string | null };
}

const MAX_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

describe('GET /v1/core/events', () => {
  let core: TestCore;
  let caller: Caller;
  let organizationId: string;
  let all: Event[];
  const minute = (at: number): string => new Date(Date.UTC(2026, 0, 15, 12, at)).toISOString();

  beforeAll(async () => {
    core = await startCore();
    await processing(core);
    ({ caller, id: organizationId } = core.anOrganization());
    const events = Array.from({ length: 24 }, (_, at) =>
      // Pairs at one instant, so that the id has to break ties.
      aTrack({ external_id: `x${at % 3}`, event: at % 4 ? 'viewed' : 'paid', occurred_at: minute(at >> 1) }),
    );
    const identify = { type: 'identify', ...anIdentify({ external_id: 'x0' }) };
    await caller.post('/v1/core/batch', { events: [...events, identify] });
    all = await eventually(async () => {
      const { data } = (await caller.get<Listed>('/v1/core/events')).body;
      expect(data).toHaveLength(25);
      return data;
    });
  }, START_MS);
  afterAll(() => core.close());

  const ids = async (query: string) =>
    (await caller.get<Listed>(`/v1/core/events?${query}`)).body.data.map(({ id }) => id);
  const where = (test: (event: Event) => boolean) => all.filter(test).map(({ id }) => id);

  it('lists the latest first, ids breaking ties in the same direction', () => {
    const sorted = [...all].sort((one, other) =>
      one.occurred_at + one.id < other.occurred_at + other.id ? 1 : -1,
    );
    expect(all).toEqual(sorted);
  });

  it('shows a track and an identify as they are', () => {
    const identify = all.find(({ type }) => type === 'identify');
    expect(identify).toMatchObject({
      event: null,
      traits: { first_name: 'Ana' },
      warnings: [],
      source: 'api',
    });
    expect(identify).not.toHaveProperty('properties');
    expect(identify?.id).toBe(identify?.['correlation_id']);
    expect(all.find(({ type }) => type === 'track')).toMatchObject({ properties: { amount: 12_990 } });
  });

  it('filters by every allowed field', async () => {
    const [one] = all.filter(({ external_id }) => external_id === 'x1');
    expect(await ids('external_id=x1')).toEqual(where(({ external_id }) => external_id === 'x1'));
    expect(await ids('external_id[in]=x1,x2')).toEqual(where(({ external_id }) => external_id !== 'x0'));
    expect(await ids('event=paid')).toEqual(where(({ event }) => event === 'paid'));
    expect(await ids('event[is_null]=true')).toEqual(where(({ event }) => event === null));
    expect(await ids('type=identify')).toEqual(where(({ type }) => type === 'identify'));
    expect(await ids(`contact_id=${one?.contact_id}`)).toEqual(
      where(({ contact_id }) => contact_id === one?.contact_id),
    );
    expect(await ids(`correlation_id=${one?.id}`)).toEqual([one?.id]);
    expect(await ids(`idempotency_key=${String(one?.['idempotency_key'])}`)).toEqual([one?.id]);
    const range = `occurred_at[gte]=${minute(3)}&occurred_at[lt]=${minute(5)}`;
    expect(await ids(range)).toEqual(
      where(({ occurred_at }) => occurred_at >= minute(3) && occurred_at < minute(5)),
    );
    expect(await ids('received_at[gt]=2100-01-01T00:00:00Z')).toEqual([]);
  });

  it.each([
    ['colour=red', 'unknown_parameter'],
    ['contact_id=x', 'invalid_filter'],
    ['occurred_at[prefix]=2026', 'invalid_filter'],
    ['type=alias', 'invalid_filter'],
    ['sort=event', 'invalid_sort'],
    ['limit=0', 'invalid_limit'],
    ['cursor=x', 'invalid_cursor'],
  ])('400 for ?%s: %s', async (query, code) => {
    expect(await caller.get(`/v1/core/events?${query}`)).toMatchObject({ status: 400, body: { code } });
  });

  it.each(['', 'sort=received_at', 'sort=-received_at&event=viewed', 'sort=occurred_at'])(
    'walks page by page with ?%s, each event once',
    async (query) => {
      const whole = await ids(`${query}&limit=200`);
      const walked: string[] = [];
      let cursor = '';
      do {
        const page = await caller.get<Listed>(`/v1/core/events?${query}&limit=7${cursor}`);
        walked.push(...page.body.data.map(({ id }) => id));
        cursor = page.body.page.next_cursor === null ? '' : `&cursor=${page.body.page.next_cursor}`;
      } while (cursor);
      expect(walked).toEqual(whole);
    },
  );

  it('goes on strictly before a pair of instant and id, as the timeline does', async () => {
    for (const [at, event] of all.entries()) {
      const before = `before_occurred_at=${event.occurred_at}&before_id=${event.id}`;
      expect(await ids(before)).toEqual(all.slice(at + 1).map(({ id }) => id));
    }
    const at = minute(4);
    expect(await ids(`before_occurred_at=${at}&before_id=${NIL_UUID}`)).toEqual(
      where(({ occurred_at }) => occurred_at < at),
    );
    expect(await ids(`before_occurred_at=${at}&before_id=${MAX_UUID}`)).toEqual(
      where(({ occurred_at }) => occurred_at <= at),
    );
  });

  it('reads a merged contact as its survivor', async () => {
    const [survivor] = where(({ external_id }) => external_id === 'x1');
    const merged = newId();
    await core.database.query(
      `INSERT INTO contacts (organization_id, id, source, merged_into)
       SELECT organization_id, $2, 'track', contact_id FROM events WHERE organization_id = $1 AND id = $3`,
      [organizationId, merged, survivor],
    );
    expect(await ids(`contact_id=${merged}`)).toEqual(where(({ external_id }) => external_id === 'x1'));
  });

  it('shows another organization nothing, and asks for the permission', async () => {
    const other = core.anOrganization().caller;
    expect((await other.get<Listed>(`/v1/core/events?correlation_id=${all[0]?.id}`)).body.data).toEqual([]);
    const answer = await core.app.as(organizationId, ['core.contacts.read']).get('/v1/core/events');
    expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  });

  describe('over many events', () => {
    const large = newId();
    beforeAll(async () => {
      await core.database.query(
        `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
                             received_at, payload, source, fingerprint)
         SELECT $1, gen_random_uuid(), 'track', 'event ' || n % 300, 'x' || n % 4000,
                ('00000000-0000-7000-8000-' || lpad((n % 4000)::text, 12, '0'))::uuid, 'k' || n,
                now() - n * interval '1 minute', now() - n * interval '1 second', '{}', 'api', gen_random_uuid()
           FROM generate_series(1, 20000) AS n`,
        [large],
      );
      await core.database.query('ANALYZE events');
    });

    it.each([
      [
        'contact',
        `contact_id = '00000000-0000-7000-8000-000000000007' ORDER BY occurred_at DESC, id DESC`,
        'by_contact',
      ],
      ['nothing', 'true ORDER BY occurred_at DESC, id DESC', 'by_time'],
      ['name', `event = 'event 7' ORDER BY occurred_at DESC, id DESC`, 'by_name'],
      ['external id', `external_id = 'x7' ORDER BY occurred_at DESC, id DESC`, 'by_external_id'],
      ['arrival', 'true ORDER BY received_at DESC, id DESC', 'by_arrival'],
      ['correlation', `id = '${MAX_UUID}' ORDER BY occurred_at DESC, id DESC`, 'pkey'],
    ])('seeks by %s', async (_, rest, index) => {
      const rows = await core.database.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT * FROM events WHERE organization_id = '${large}' AND ${rest} LIMIT 50`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toContain(`events_${index}`);
      expect(plan).not.toContain('Seq Scan');
      expect(plan).not.toContain('Filter');
    });
  });
});
