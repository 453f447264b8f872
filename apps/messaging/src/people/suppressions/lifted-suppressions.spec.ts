import { newId } from '@customer-platform/database';
import { domainEvent, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { EventsConsumer } from '../../events.consumer.js';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { LIFTED_SUPPRESSIONS } from './suppressions.repository.js';
import type { SuppressionDto } from './suppression.dto.js';

const PATH = '/v1/messaging/suppressions';
const DELETE = ['messaging.suppressions.delete'] as const;

interface Listed {
  data: SuppressionDto[];
  page: { next_cursor: string | null };
}

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

async function suppressed(api: Caller, address: string, more: object = {}): Promise<SuppressionDto> {
  const answer = await api.post<SuppressionDto>(PATH, { channel: 'email', address, ...more });
  expectStatus(answer, 201);
  return answer.body;
}

async function list(api: Caller, query: string): Promise<SuppressionDto[]> {
  const answer = await api.get<Listed>(`${PATH}?${query}`);
  expectStatus(answer, 200);
  return answer.body.data;
}

const lift = async (api: Caller, { id }: { id: string }): Promise<void> =>
  expectStatus(await api.delete(`${PATH}/${id}`), 204);

describe('GET /v1/messaging/suppressions?lifted=true', () => {
  it('says who lifted what and when, apart from those that stand', async () => {
    const { id, api } = world.organization();
    const first = await suppressed(api, 'ana@example.com', { reason: 'complaint', note: 'By telephone' });
    expect([first.lifted_by, first.lifted_at]).toEqual([null, null]);
    const other = await suppressed(api, 'bea@example.com');
    const support = world.app.as(id, ['messaging.suppressions.delete']);
    await lift(support, first);
    const [told, ...further] = await list(api, 'lifted=true');
    expect(further).toEqual([]);
    const audit = await world.database.query<{ actor_type: string; actor_id: string }>(
      `SELECT actor_type, actor_id FROM audit_entries
        WHERE organization_id = $1 AND action = 'messaging.suppressions.delete'`,
      [id],
    );
    expect(told).toEqual({
      ...first,
      updated_at: told?.lifted_at,
      lifted_by: { type: audit[0]?.actor_type, id: audit[0]?.actor_id },
      lifted_at: expect.any(String),
    });
    expect(told?.lifted_by?.id).not.toBe(first.created_by['id']);
    for (const query of ['', 'lifted=false']) expect(await list(api, query)).toEqual([other]);
  });

  it('keeps each time that one address was lifted, and blocks nobody by it', async () => {
    const { api } = world.organization();
    const ids: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const { id } = await suppressed(api, 'ana@example.com');
      ids.unshift(id);
      await lift(api, { id });
    }
    const told = await list(api, 'lifted=true&address=ANA%40example.com&sort=-lifted_at');
    expect(told.map(({ id }) => id)).toEqual(ids);
    expect(await list(api, 'address=ana%40example.com')).toEqual([]);
    expectProblem(await api.delete(`${PATH}/${ids[0] ?? ''}`), 404, 'not_found');
    expectProblem(await api.delete(`${PATH}?channel=email&address=ana%40example.com`), 404, 'not_found');
  });

  it('is asked by who lifted it, when, why and how, page by page', async () => {
    const { id, api } = world.organization();
    const [one, two] = [world.app.as(id, DELETE), world.app.as(id, DELETE)];
    const made = [];
    for (const [address, reason] of [
      ['a@example.com', 'manual'],
      ['b@example.com', 'complaint'],
      ['c@example.com', 'manual'],
    ] as const)
      made.push(await suppressed(api, address, { reason }));
    for (const [at, suppression] of made.entries()) await lift(at === 1 ? two : one, suppression);
    const all = await list(api, 'lifted=true&sort=-lifted_at');
    const addresses = (found: readonly SuppressionDto[]) => found.map(({ address }) => address);
    expect(addresses(all)).toEqual(['c@example.com', 'b@example.com', 'a@example.com']);
    const by = all[1]?.lifted_by?.['id'] ?? '';
    expect(addresses(await list(api, `lifted=true&lifted_by=${by}`))).toEqual(['b@example.com']);
    expect(await list(api, `lifted_by=${by}`)).toEqual([]);
    expect(addresses(await list(api, 'lifted=true&reason=complaint'))).toEqual(['b@example.com']);
    const since = encodeURIComponent(all[0]?.lifted_at ?? '');
    expect(addresses(await list(api, `lifted=true&lifted_at[gte]=${since}`))).toContain('c@example.com');
    for (const sort of ['-lifted_at', '-created_at', 'created_at']) {
      const seen: (string | null)[] = [];
      let cursor: string | null = null;
      do {
        const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { body } = await api.get<Listed>(`${PATH}?lifted=true&limit=1&sort=${sort}${more}`);
        seen.push(...addresses(body.data));
        cursor = body.page.next_cursor;
      } while (cursor !== null);
      expect([sort, seen]).toEqual([sort, addresses(await list(api, `lifted=true&sort=${sort}`))]);
    }
    const { body } = await api.get<Listed>(`${PATH}?lifted=true&limit=1`);
    const cursor = encodeURIComponent(body.page.next_cursor ?? '');
    expectProblem(await api.get(`${PATH}?limit=1&cursor=${cursor}`), 400, 'cursor_mismatch');
    expectProblem(await api.get(`${PATH}?lifted=yes`), 400, 'invalid_filter');
    expectProblem(await api.get(`${PATH}?lifted_by=me`), 400, 'invalid_filter');
    expectProblem(await api.get(`${PATH}?sort=lifted_at`), 400, 'invalid_sort');
  });

  it('is nothing to another organization, and needs messaging.suppressions.read', async () => {
    const [mine, other] = [world.organization(), world.organization()];
    await lift(mine.api, await suppressed(mine.api, 'ana@example.com'));
    expect(await list(other.api, 'lifted=true')).toEqual([]);
    const reader = world.app.as(mine.id, ['messaging.suppressions.read']);
    expect(await list(reader, 'lifted=true')).toHaveLength(1);
    const refused = await world.app.as(mine.id, DELETE).get(`${PATH}?lifted=true`);
    expect(expectProblem(refused, 403, 'permission_denied')['permission']).toBe(
      'messaging.suppressions.read',
    );
  });

  it('has nothing of an erased person, lifted before or after, but who lifted it', async () => {
    const { id, api } = world.organization();
    const contactId = newId();
    const address = `${contactId}@example.com`;
    await world.database.query(
      `INSERT INTO contacts (organization_id, id, version, state, email, email_canonical)
       VALUES ($1, $2, 1, 'active', $3, $3)`,
      [id, contactId, address],
    );
    await lift(api, await suppressed(api, address, { note: `Asked by ${address}` }));
    const standing = await suppressed(api, address, { note: `Asked by ${address}` });
    const data = { subject_request_id: newId(), contact_id: contactId };
    const consumer = world.app.app.get(EventsConsumer);
    await consumer.erase([domainEvent('core.erasure.requested.v1', id, data)]);
    await lift(api, standing);
    const kept = await world.database.query(
      `SELECT key, address, note, lifted_by_type FROM lifted_suppressions WHERE organization_id = $1`,
      [id],
    );
    const blank = { key: null, address: null, note: null, lifted_by_type: 'api_key' };
    expect(kept).toEqual([blank, blank]);
    expect(JSON.stringify(await list(api, 'lifted=true'))).not.toContain(address);
  });

  it('reads a page of very many by an index', async () => {
    const { id } = world.organization();
    await world.database.query(
      `INSERT INTO lifted_suppressions (organization_id, id, channel, scope, key, address, reason, created_by, created_at,
                                        lifted_by_type, lifted_by_id, lifted_at)
       SELECT $1, gen_random_uuid(), 'email', 'address', n::text, NULL, 'manual', '{}', now() - n * interval '1 s', 'user',
              gen_random_uuid(), now() - n * interval '1 s' FROM generate_series(1, 3000) AS n`,
      [id],
    );
    await world.database.query('ANALYZE lifted_suppressions');
    for (const [column, index] of [
      ['lifted_at', 'lifted_suppressions_by_time'],
      ['created_at', 'lifted_suppressions_by_creation'],
    ]) {
      const rows = await world.database.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (COSTS OFF) SELECT * FROM (${LIFTED_SUPPRESSIONS}) AS page_source
          ORDER BY ${column} DESC, id DESC LIMIT 51`,
        [id],
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(index);
    }
  });
});
