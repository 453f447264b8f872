import { Clock, Database, newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import {
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
  unknownId,
  type Caller,
  type KafkaProbe,
} from '@customer-platform/testing';
import { aTrack, anIdentify, processing, startCore, START_MS, type TestCore } from '../core.fixture.js';
import { readArrival } from '../vocabulary/events/work-item.js';
import { EventProcessor } from '../processing/event-processor.js';
import { eventIdOf } from '../vocabulary/events/event-id.js';
import { TaxonomyCatalog } from './taxonomy-catalog.js';
import type { InstalledTaxonomyDto, TaxonomyDto } from './taxonomy.dto.js';
import type { Mode, Taxonomy } from './taxonomy.js';

const TAXONOMIES = '/v1/core/taxonomies';
const PERMISSIONS: readonly Permission[] = [
  'core.taxonomies.read',
  'core.taxonomies.install',
  'core.events.write',
  'core.contacts.write',
  'core.events.read',
  'core.jobs.read',
  'core.jobs.replay',
  'core.usage.read',
];

interface Wish {
  mode?: Mode;
  overrides?: Record<string, Mode>;
  dry_run?: boolean;
}
interface StoredEvent {
  id: string;
  warnings: { pointer: string; code: string }[];
}

let core: TestCore;
let probe: KafkaProbe;
beforeAll(async () => {
  core = await startCore();
  probe = kafkaProbe(core.app);
  probe.collect('core');
  await processing(core);
}, START_MS);
afterAll(() => core.close());

function anOrganization(permissions = PERMISSIONS): { id: string; caller: Caller } {
  const id = newId();
  return { id, caller: core.app.as(id, permissions) };
}

async function listed(caller: Caller): Promise<TaxonomyDto[]> {
  const answer = await caller.get<{ data: TaxonomyDto[] }>(TAXONOMIES);
  expectStatus(answer, 200);
  return answer.body.data;
}

async function idOf(caller: Caller, slug: string): Promise<string> {
  return (await listed(caller)).find((one) => one.slug === slug)?.id ?? '';
}

async function install(caller: Caller, slug: string, wish: Wish = {}): Promise<InstalledTaxonomyDto> {
  const path = `${TAXONOMIES}/${await idOf(caller, slug)}/install`;
  const answer = await caller.post<InstalledTaxonomyDto>(path, wish);
  expectStatus(answer, 200);
  return answer.body;
}

/** The event, once it is stored. */
function stored(caller: Caller, id: string): Promise<StoredEvent> {
  return eventually(async () => {
    const { body } = await caller.get<{ data: StoredEvent[] }>(`/v1/core/events?correlation_id=${id}`);
    const [event] = body.data;
    if (!event) throw new Error('It is not stored yet');
    return event;
  });
}

const anOrder = (properties: object = {}, overrides: object = {}) =>
  aTrack({ event: 'order_completed', properties, ...overrides });
const GOOD = { order_id: 'O-1', total: 100, currency: 'CLP', products: [{ product_id: 'P-1', quantity: 1 }] };
const BAD = { ...GOOD, total: '100', currency: 'pesos' };
const BROKEN = ['/properties/currency', '/properties/total'];

describe('GET /v1/core/taxonomies', () => {
  it('lists the three, each with its events, and nothing installed at first', async () => {
    const { caller } = anOrganization();
    const all = await listed(caller);
    expect(all.map(({ slug, version, installed }) => [slug, version, installed])).toEqual([
      ['billing', '1.0.0', null],
      ['ecommerce', '1.0.0', null],
      ['saas', '1.0.0', null],
    ]);
    const event = all[1]?.events.find(({ name }) => name === 'order_completed');
    expect(event).toMatchObject({ schema: { type: 'object' }, example: { currency: 'CLP' } });
  });

  it('comes by pages, either way', async () => {
    const { caller } = anOrganization();
    const page = async (query: string) => {
      const answer = await caller.get<{ data: TaxonomyDto[]; page: { next_cursor: string | null } }>(
        `${TAXONOMIES}?${query}`,
      );
      expectStatus(answer, 200);
      return { slugs: answer.body.data.map(({ slug }) => slug), next: answer.body.page.next_cursor ?? '' };
    };
    const first = await page('limit=2&sort=-slug');
    expect(first.slugs).toEqual(['saas', 'ecommerce']);
    expect(await page(`limit=2&sort=-slug&cursor=${first.next}`)).toEqual({ slugs: ['billing'], next: '' });
    const start = await page('limit=1');
    expect((await page(`limit=1&cursor=${start.next}`)).slugs).toEqual(['ecommerce']);
  });

  it('is 403 without core.taxonomies.read', async () => {
    const { caller } = anOrganization(['core.taxonomies.install']);
    expectProblem(await caller.get(TAXONOMIES), 403, 'permission_denied');
  });
});

describe('POST /v1/core/taxonomies/{id}/install', () => {
  it('warns where it says nothing else, is audited and told, and shown by the list', async () => {
    const { id, caller } = anOrganization();
    const installed = await install(caller, 'ecommerce');
    const whatIs = { version: '1.0.0', mode: 'warn', overrides: {} };
    expect(installed).toMatchObject({
      slug: 'ecommerce',
      installed: whatIs,
      previous: null,
      dry_run: false,
      changed: true,
      judgement: null,
    });
    const after = await listed(caller);
    expect(after.map((one) => one.installed)).toEqual([null, whatIs, null]);
    expect(await recorded(id)).toEqual([
      { action: 'core.taxonomies.install', id: installed.id, fields: ['version', 'mode', 'overrides'] },
    ]);
    const [told] = await probe.expectEvents('core.taxonomy.installed.v1', id, 1);
    expect(told?.data).toEqual({
      taxonomy_id: installed.id,
      slug: 'ecommerce',
      version: '1.0.0',
      mode: 'warn',
    });
  });

  it('changes nothing when it is asked for the same again, at the same time too', async () => {
    const { id, caller } = anOrganization();
    const wish: Wish = { mode: 'strict', overrides: { product_shared: 'off' } };
    const answers = await Promise.all(Array.from({ length: 5 }, () => install(caller, 'ecommerce', wish)));
    expect(answers.filter(({ changed }) => changed)).toHaveLength(1);
    const again = await install(caller, 'ecommerce', wish);
    expect(again).toMatchObject({ changed: false, installed: wish, previous: wish });
    expect(await recorded(id)).toHaveLength(1);
    const bare = await install(caller, 'ecommerce');
    expect(bare).toMatchObject({ changed: true, installed: { mode: 'warn', overrides: {} }, previous: wish });
    expect((await recorded(id)).at(-1)).toMatchObject({ fields: ['mode', 'overrides'] });
    // One topic, one key: whatever had been told besides would have come before the last.
    const told = await probe.expectEvents('core.taxonomy.installed.v1', id, 2);
    expect(told.map(({ data }) => data.mode)).toEqual(['strict', 'warn']);
  });

  it('refuses modes that there are not, and events that it does not list', async () => {
    const { id, caller } = anOrganization();
    const path = `${TAXONOMIES}/${await idOf(caller, 'saas')}/install`;
    const overrides = { signed_up: 'harsh', order_completed: 'off', 'a/b': 'off' };
    const problem = expectProblem(await caller.post(path, { overrides }), 400, 'validation_failed');
    expect(problem.errors?.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/overrides/signed_up', 'invalid_enum'],
      ['/overrides/order_completed', 'unknown_field'],
      ['/overrides/a~1b', 'unknown_field'],
    ]);
    expectProblem(await caller.post(path, { mode: 'loud' }), 400, 'validation_failed');
    expectProblem(await caller.post(path, { overrides: [] }), 400, 'validation_failed');
    expectProblem(await caller.post(path, { level: 'warn' }), 400, 'validation_failed');
    expect(await recorded(id)).toEqual([]);
  });

  it('is 404 for an id of nobody and of another organization, and 403 without its permission', async () => {
    const [mine, other] = [anOrganization(), anOrganization()];
    const foreign = `${TAXONOMIES}/${await idOf(other.caller, 'saas')}/install`;
    expectProblem(await mine.caller.post(foreign, {}), 404, 'not_found');
    expectProblem(await mine.caller.post(`${TAXONOMIES}/${unknownId()}/install`, {}), 404, 'not_found');
    expectProblem(await mine.caller.post(`${TAXONOMIES}/saas/install`, {}), 400, 'invalid_id');
    const reader = core.app.as(other.id, ['core.taxonomies.read']);
    expectProblem(await reader.post(foreign, {}), 403, 'permission_denied');
    await install(mine.caller, 'saas', { mode: 'strict' });
    expect((await listed(other.caller)).every(({ installed }) => installed === null)).toBe(true);
  });

  it('installs another version in place of the one before', async () => {
    const { caller } = anOrganization();
    const catalog = core.app.app.get(TaxonomyCatalog, { strict: false });
    const event = { name: 'sold', schema: { type: 'object' } as const, example: {} };
    const first: Taxonomy = {
      slug: 'zz-shop',
      version: '1.0.0',
      shippedAt: '2026-01-01T00:00:00.000Z',
      events: [event],
    };
    catalog.add(first);
    const before = await install(caller, 'zz-shop', { mode: 'strict' });
    const demanding = {
      ...event,
      schema: {
        type: 'object',
        required: ['sku'] as string[],
        properties: { sku: { type: 'string' } },
      } as const,
    };
    catalog.add({ ...first, version: '2.0.0', events: [demanding] });
    expectStatus(await caller.post('/v1/core/track', aTrack({ event: 'sold' })), 202);
    const shown = (await listed(caller)).find(({ slug }) => slug === 'zz-shop');
    expect(shown).toMatchObject({ version: '2.0.0', installed: { version: '1.0.0', mode: 'strict' } });
    const after = await install(caller, 'zz-shop', { mode: 'strict' });
    expect(after.id).not.toBe(before.id);
    expect(after).toMatchObject({
      changed: true,
      installed: { version: '2.0.0' },
      previous: { version: '1.0.0' },
    });
    const refused = await caller.post('/v1/core/track', aTrack({ event: 'sold' }));
    expectProblem(refused, 400, 'schema_violation');
    const back = await caller.post<InstalledTaxonomyDto>(`${TAXONOMIES}/${before.id}/install`, {
      mode: 'strict',
    });
    expect(back.body).toMatchObject({ installed: { version: '1.0.0' }, previous: { version: '2.0.0' } });
  });
});

describe('a dry run', () => {
  it('says what stored events would have come to, and writes nothing', async () => {
    const { id, caller } = anOrganization();
    const sent = [
      anOrder(GOOD),
      anOrder(BAD),
      anOrder({}),
      aTrack({ event: 'coupon_denied', properties: {} }),
    ];
    const ids = await Promise.all(
      [...sent, aTrack({ event: 'not_listed' })].map(async (body) => {
        const { body: answer } = await caller.post<{ event_id: string }>('/v1/core/track', body);
        return answer.event_id;
      }),
    );
    for (const event of ids) await stored(caller, event);
    const tried = await install(caller, 'ecommerce', {
      mode: 'strict',
      overrides: { coupon_denied: 'off' },
      dry_run: true,
    });
    expect(tried).toMatchObject({
      dry_run: true,
      changed: true,
      installed: { mode: 'strict' },
      previous: null,
    });
    expect(tried.judgement).toMatchObject({ judged: 3, violating: 2, complete: true });
    const [orders, ...others] = tried.judgement?.events ?? [];
    expect(others).toEqual([]);
    expect(orders).toMatchObject({ event: 'order_completed', mode: 'strict', judged: 3, violating: 2 });
    const samples = new Map(orders?.samples.map((sample) => [sample.event_id, sample.violations]));
    expect([...samples.keys()].sort()).toEqual([ids[1], ids[2]].sort());
    expect(
      samples
        .get(ids[1] ?? '')
        ?.map(({ pointer }) => pointer)
        .sort(),
    ).toEqual(BROKEN);
    expect((await listed(caller)).every(({ installed }) => installed === null)).toBe(true);
    expect(await recorded(id)).toEqual([]);
    const blind = core.app.as(id, ['core.taxonomies.read', 'core.taxonomies.install']);
    expect(await install(blind, 'ecommerce', { dry_run: true })).toMatchObject({ judgement: null });
  });

  it('looks at the newest thousand of a name', async () => {
    const { id, caller } = anOrganization();
    await core.database.query(
      `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
                           received_at, payload, source, fingerprint)
       SELECT $1, gen_random_uuid(), 'track', 'order_completed', 'a', gen_random_uuid(), n::text,
              now() - n * interval '1 s', now(), CASE WHEN n > 1000 THEN '{}' ELSE $2::jsonb END, 'api', gen_random_uuid()
         FROM generate_series(1, 1100) AS n`,
      [id, JSON.stringify(GOOD)],
    );
    const { judgement } = await install(caller, 'ecommerce', { dry_run: true });
    expect(judgement).toMatchObject({ judged: 1_000, violating: 0, complete: true });
  });
});

describe('an event that breaks a schema', () => {
  const track = (caller: Caller, body: object) => caller.post<{ event_id: string }>('/v1/core/track', body);

  it('is stored with a warning for each place where the taxonomy warns, and without where it is off', async () => {
    const { caller } = anOrganization();
    await install(caller, 'ecommerce', { overrides: { coupon_denied: 'off' } });
    const sent = [
      anOrder(BAD),
      anOrder(GOOD),
      aTrack({ event: 'coupon_denied' }),
      aTrack({ event: 'not_listed' }),
    ];
    const warnings = await Promise.all(
      sent.map(async (body) => {
        const answer = await track(caller, body);
        expectStatus(answer, 202);
        const event = await stored(caller, answer.body.event_id);
        return event.warnings.map(({ pointer, code }) => `${code} ${pointer}`).sort();
      }),
    );
    expect(warnings).toEqual([BROKEN.map((pointer) => `schema_violation ${pointer}`), [], [], []]);
  });

  it('is refused where the taxonomy is strict, with all places named, counted, and not stored', async () => {
    const { caller } = anOrganization();
    await install(caller, 'ecommerce', { mode: 'strict', overrides: { coupon_denied: 'warn' } });
    const problem = expectProblem(await track(caller, anOrder(BAD)), 400, 'schema_violation');
    expect(problem.errors?.map(({ pointer, code }) => `${code ?? ''} ${pointer ?? ''}`).sort()).toEqual(
      BROKEN.map((pointer) => `schema_violation ${pointer}`),
    );
    const without = expectProblem(
      await track(caller, anOrder(undefined, { properties: undefined })),
      400,
      'schema_violation',
    );
    expect(without.errors).toHaveLength(4);
    // What is no event at all is told that first.
    expectProblem(await track(caller, anOrder(BAD, { external_id: '' })), 400, 'validation_failed');
    const passes = [anOrder(GOOD), aTrack({ event: 'not_listed' }), aTrack({ event: 'coupon_denied' })];
    for (const body of passes) expectStatus(await track(caller, body), 202);
    expectStatus(await caller.post('/v1/core/identify', anIdentify()), 202);
    await eventually(async () => {
      const { body } = await caller.get<{ totals: { events: Record<string, number> } }>('/v1/core/usage');
      expect(body.totals.events).toMatchObject({ refused: 3, stored: 4, dead_lettered: 0 });
    });
  });

  it('is refused item by item in a batch', async () => {
    const { caller } = anOrganization();
    await install(caller, 'ecommerce', { mode: 'strict' });
    const events = [anOrder(GOOD), anOrder(BAD), { type: 'identify', ...anIdentify() }, anOrder({})];
    const answer = await caller.post<{ results: object[] }>('/v1/core/batch', { events });
    expectStatus(answer, 202);
    expect(answer.body).toMatchObject({ accepted: 2, rejected: 2 });
    expect(answer.body.results[1]).toMatchObject({ index: 1, code: 'schema_violation', retryable: false });
    expect(answer.body.results[3]).toMatchObject({
      code: 'schema_violation',
      pointer: '/properties/order_id',
      detail: 'This property is required. (and 3 more)',
    });
    const all = await caller.post('/v1/core/batch', { events: [anOrder({}), anOrder(BAD)] });
    expectProblem(all, 400, 'schema_violation');
  });

  it('is stored with warnings when it was accepted before strictness came, a replay too', async () => {
    const { id, caller } = anOrganization();
    await install(caller, 'ecommerce', { mode: 'strict' });
    const body = anOrder(BAD);
    const eventId = eventIdOf(id, String(body['idempotency_key']));
    const queued = {
      organizationId: id,
      eventId,
      kind: 'track' as const,
      receivedAt: core.app.app.get(Clock, { strict: false }).now().getTime(),
      body: Buffer.from(JSON.stringify(body)),
    };
    const processor = core.app.app.get(EventProcessor, { strict: false });
    await core.app.app
      .get(Database, { strict: false })
      .acrossOrganizations((tx) => processor.process(tx, [readArrival(queued, 0)], { stage: 'resolve' }));
    const event = await stored(caller, eventId);
    expect(event.warnings.map(({ code }) => code)).toEqual(['schema_violation', 'schema_violation']);

    const letter = newId();
    const other = anOrder(BAD);
    const otherId = eventIdOf(id, String(other['idempotency_key']));
    await core.database.query(
      `INSERT INTO dead_letters (organization_id, id, event_id, type, stage, code, detail, attempts, payload, state,
                                 fingerprint, received_at, first_failed_at, last_failed_at)
       VALUES ($1, $2, $3, 'track', 'resolve', 'internal_error', 'It failed.', 1, $4, 'pending', $5, now(), now(), now())`,
      [id, letter, otherId, Buffer.from(JSON.stringify(other)), newId()],
    );
    expectStatus(await caller.post(`/v1/core/dead-letters/${letter}/replay`), 202);
    expect((await stored(caller, otherId)).warnings).toHaveLength(2);
  });
});

async function recorded(organizationId: string): Promise<Record<string, unknown>[]> {
  return core.database.query(
    `SELECT action, resource_id AS id, changed_fields AS fields FROM audit_entries
      WHERE organization_id = $1 ORDER BY occurred_at, id`,
    [organizationId],
  );
}
