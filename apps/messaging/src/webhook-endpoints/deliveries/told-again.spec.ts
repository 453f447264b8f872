import { Clock, Database, newId, Retention } from '@customer-platform/database';
import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { Webhook } from 'standardwebhooks';
import { ROWS_OF_A_PIECE } from '../../background/jobs/background-jobs.js';
import { ALL_PERMISSIONS, type MessagingWorld } from '../../messaging.fixture.js';
import {
  DAY,
  deliveries,
  delivery,
  ENDPOINTS,
  WebhookBench,
  WITHIN,
  type Delivery,
} from '../webhook-bench.fixture.js';
import { OLD_BODIES } from './old-deliveries.js';

let bench: WebhookBench;
let world: MessagingWorld;
beforeAll(async () => {
  bench = await WebhookBench.start();
  ({ world } = bench);
});
beforeEach(() => {
  bench.ahead = 0;
  bench.answerWith(204);
});
afterAll(() => bench.end());

const redeliver = (api: Caller, id: string) =>
  api.post<Delivery>(`/v1/messaging/webhook-deliveries/${id}/redeliver`, {});

/** Of an endpoint with one delivery that has failed for good. */
async function failed(fields: Record<string, unknown> = {}) {
  const { id: organizationId, api } = world.organization();
  const made = await bench.endpoint(api, fields);
  bench.answerWith(410);
  const eventId = await bench.publish(organizationId);
  const ended = await delivery(api, made.id, { state: 'failed' });
  await eventually(async () =>
    expect((await api.get(`${ENDPOINTS}/${made.id}`)).body).toMatchObject({ enabled: false }),
  );
  bench.answerWith(204);
  return { organizationId, api, eventId, made, ended };
}

const enable = async (api: Caller, id: string) =>
  expectStatus(await api.patch(`${ENDPOINTS}/${id}`, { enabled: true }), 200);

describe('GET /v1/messaging/webhook-endpoints/{id}/deliveries', () => {
  it('tells every try with status, error and time, and never what was said', async () => {
    const { id: organizationId, api } = world.organization();
    const { id } = await bench.endpoint(api);
    bench.answerWith(503);
    const eventId = await bench.publish(organizationId);
    await delivery(api, id, { state: 'pending', attempts: 1 });
    bench.answerWith(204);
    bench.ahead = 10_000;
    const { tries } = await delivery(api, id, { state: 'delivered', attempts: 2, event_id: eventId });
    expect(tries).toEqual([
      {
        at: expect.any(String) as string,
        status: 503,
        error: 'status_not_2xx',
        ms: expect.any(Number) as number,
      },
      { at: expect.any(String) as string, status: 204, error: null, ms: expect.any(Number) as number },
    ]);
    expect(Date.parse(tries[1]?.at ?? '')).toBeGreaterThan(Date.parse(tries[0]?.at ?? ''));
    const { body } = await api.get(`${ENDPOINTS}/${id}/deliveries`);
    expect(JSON.stringify(body)).not.toMatch(/Ana|payload|secret of the inside/);
  });

  it('is filtered by state, type, event and time, and goes on by its cursor', async () => {
    const { id: organizationId, api } = world.organization();
    const made = await bench.endpoint(api);
    const first = await bench.publish(organizationId);
    await eventually(
      async () => expect(await deliveries(api, made.id, '?state=delivered')).toHaveLength(1),
      WITHIN,
    );
    bench.answerWith(500);
    const second = await bench.publish(organizationId);
    const pending = () => deliveries(api, made.id, '?state=pending');
    await eventually(async () => expect((await pending())[0]?.tries).toHaveLength(1), WITHIN);
    const ids = async (query: string) => (await deliveries(api, made.id, query)).map((one) => one.event_id);
    expect(await ids('?state[in]=pending,delivered')).toEqual([second, first]);
    expect(await ids('?type=core.contact.created')).toEqual([second, first]);
    expect(await ids('?type=core.contact.updated')).toEqual([]);
    expect(await ids(`?event_id=${first}`)).toEqual([first]);
    expect(await ids(`?created_at[gt]=${new Date(Date.now() + DAY).toISOString()}`)).toEqual([]);
    const page = await api.get<{ page: { next_cursor: string } }>(
      `${ENDPOINTS}/${made.id}/deliveries?limit=1`,
    );
    expect(await ids(`?limit=1&cursor=${page.body.page.next_cursor}`)).toEqual([first]);
    expectStatus(await api.patch(`${ENDPOINTS}/${made.id}`, { enabled: false }), 200);
    expect(await ids('?state=paused')).toEqual([second]);
    expect(await ids('?state=pending')).toEqual([]);
    expect((await deliveries(api, made.id))[0]).toMatchObject({ state: 'paused', next_attempt_at: null });
    expectStatus(await api.get(`${ENDPOINTS}/${made.id}/deliveries?state=gone`), 400);
    const stranger = world.organization().api;
    expectStatus(await stranger.get(`${ENDPOINTS}/${made.id}/deliveries`), 404);
  });
});

describe('POST /v1/messaging/webhook-deliveries/{id}/redeliver', () => {
  it('tells it again under the same webhook-id, also what was delivered, with a fresh signature', async () => {
    const { api, eventId, made, ended } = await failed();
    await enable(api, made.id);
    const again = await redeliver(api, ended.id);
    expectStatus(again, 202);
    expect(again.body).toMatchObject({ id: ended.id, event_id: eventId, state: 'pending', attempts: 0 });
    const told = await delivery(api, made.id, { state: 'delivered', attempts: 1 });
    expect(told.tries.map(({ status }) => status)).toEqual([410, 204]);
    expectStatus(await redeliver(api, ended.id), 202);
    await eventually(() => expect(bench.at(made)).toHaveLength(3), WITHIN);
    const [first, ...others] = bench.at(made);
    for (const one of others) {
      expect(one.headers['webhook-id']).toBe(eventId);
      expect(one.body).toBe(first?.body);
      new Webhook(made.secret).verify(one.body, one.headers as Record<string, string>);
    }
    const audited = await world.database.query(
      `SELECT changed_fields FROM audit_entries WHERE resource_id = $1 AND changed_fields = '{deliveries}'`,
      [made.id],
    );
    expect(audited).toHaveLength(2);
  });

  it('begins once of many at once', async () => {
    const { api, made, ended } = await failed();
    await enable(api, made.id);
    // Nothing is answered before all have been asked for.
    const held: (() => void)[] = [];
    bench.receiver.answer = (response) => held.push(() => response.writeHead(204).end());
    const answers = await Promise.all(Array.from({ length: 8 }, () => redeliver(api, ended.id)));
    for (const answer of answers) expectStatus(answer, 202);
    await eventually(() => expect(held).toHaveLength(1), WITHIN);
    for (const answer of held) answer();
    await delivery(api, made.id, { state: 'delivered', attempts: 1 });
    expect(bench.at(made)).toHaveLength(2);
  });

  it('409 while the endpoint is disabled or deleted, 404 for others and once it is purged', async () => {
    const { api, made, ended } = await failed();
    expectProblem(await redeliver(api, ended.id), 409, 'invalid_state');
    expectProblem(await redeliver(world.organization().api, ended.id), 404, 'not_found');
    expectProblem(await redeliver(api, newId()), 404, 'not_found');
    expectStatus(await api.delete(`${ENDPOINTS}/${made.id}`), 204);
    expectProblem(await redeliver(api, ended.id), 409, 'invalid_state');
    expectStatus(await api.delete(`${ENDPOINTS}/${made.id}/purge`), 204);
    expectProblem(await redeliver(api, ended.id), 404, 'not_found');
    expect(bench.at(made)).toHaveLength(1);
  });

  it('409 once what was said is kept no more', async () => {
    const { organizationId, api, made, ended } = await failed();
    await enable(api, made.id);
    const sweepAfter = (ms: number): Promise<number> => {
      const clock: Clock = { now: () => new Date(Date.now() + ms) };
      return new Retention(world.app.app.get(Database), clock, OLD_BODIES).sweep();
    };
    const bodies = () =>
      world.database.query(
        'SELECT 1 FROM webhook_deliveries WHERE organization_id = $1 AND payload IS NOT NULL',
        [organizationId],
      );
    await sweepAfter(7 * DAY - 60_000);
    expect(await bodies()).toHaveLength(1);
    await sweepAfter(7 * DAY + 60_000);
    expect(await bodies()).toEqual([]);
    expect(await deliveries(api, made.id)).toHaveLength(1);
    expectProblem(await redeliver(api, ended.id), 409, 'invalid_state');
  });

  it('takes the right to change endpoints', async () => {
    const { organizationId, ended } = await failed();
    const rest = ALL_PERMISSIONS.filter((permission) => permission !== 'messaging.webhooks.update');
    const answer = await redeliver(world.app.as(organizationId, rest), ended.id);
    expect(answer).toMatchObject({ status: 403, body: { permission: 'messaging.webhooks.update' } });
  });
});

describe('replay_since', () => {
  const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

  it('tells again what failed and what was missed while the endpoint was off, the oldest first', async () => {
    const { organizationId, api, eventId, made } = await failed();
    const missed = await bench.publish(organizationId);
    await eventually(async () => {
      const [newest] = await deliveries(api, made.id, '?state=failed');
      expect(newest).toMatchObject({ event_id: missed, error: 'endpoint_disabled', attempts: 0, tries: [] });
    }, WITHIN);
    expect(bench.at(made)).toHaveLength(1);
    const path = `${ENDPOINTS}/${made.id}`;
    expectProblem(await api.patch(path, { replay_since: ago(DAY) }), 409, 'invalid_state');
    const answer = await api.patch(path, { enabled: true, replay_since: ago(DAY) });
    expectStatus(answer, 200);
    expect(answer.body).not.toHaveProperty('replay_since');
    await eventually(
      async () => expect(await deliveries(api, made.id, '?state=delivered')).toHaveLength(2),
      WITHIN,
    );
    const told = bench.at(made).map(({ headers }) => headers['webhook-id']);
    expect(told[0]).toBe(eventId);
    expect(told.slice(1).sort()).toEqual([eventId, missed].sort());
    const [entry] = await world.database.query<{ changed_fields: string[] }>(
      `SELECT changed_fields FROM audit_entries WHERE resource_id = $1 AND 'replay_since' = ANY (changed_fields)`,
      [made.id],
    );
    expect(entry?.changed_fields.sort()).toEqual(['disabled_reason', 'enabled', 'replay_since']);
  });

  it('leaves out what lies before it, what waits and what was delivered; asked for again, it does so again', async () => {
    const { id: organizationId, api } = world.organization();
    const made = await bench.endpoint(api);
    const rows = [
      ['failed', 'timeout', 2 * DAY],
      ['failed', 'timeout', DAY / 2],
      ['delivered', null, DAY / 2],
    ] as const;
    const ids = rows.map(() => newId());
    for (const [index, [state, error, age]] of rows.entries())
      await world.database.query(
        `INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, type, payload, correlation_id, state,
           error, attempts, created_at) VALUES ($1, $2, $3, 'core.contact.created', '{}', $3, $4, $5, 10, $6)`,
        [organizationId, made.id, ids[index], state, error, ago(age)],
      );
    const since = { replay_since: ago(DAY) };
    expectStatus(await api.patch(`${ENDPOINTS}/${made.id}`, since), 200);
    await eventually(
      async () => expect(await deliveries(api, made.id, '?state=delivered')).toHaveLength(2),
      WITHIN,
    );
    expect(bench.at(made).map(({ headers }) => headers['webhook-id'])).toEqual([ids[1]]);
    await world.database.query(
      `UPDATE webhook_deliveries SET state = 'failed' WHERE organization_id = $1 AND event_id = $2`,
      [organizationId, ids[2]],
    );
    expectStatus(await api.patch(`${ENDPOINTS}/${made.id}`, since), 200);
    await eventually(() => expect(bench.at(made)).toHaveLength(2), WITHIN);
  });

  it('goes in pieces, so that what happens now waits for one of them and not for all', async () => {
    const { id: organizationId, api } = world.organization();
    const made = await bench.endpoint(api);
    const many = 2 * ROWS_OF_A_PIECE + 20;
    await world.database.query(
      `INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, type, payload, correlation_id, state,
         error, created_at)
       SELECT $1, $2, gen_random_uuid(), 'core.contact.created', '{}', $2, 'failed', 'timeout',
              $3::timestamptz + n * interval '1 ms' FROM generate_series(1, $4::int) n`,
      [organizationId, made.id, ago(DAY / 2), many],
    );
    const held: (() => void)[] = [];
    let free = false;
    bench.receiver.answer = (response) => {
      const answer = () => response.writeHead(204).end();
      if (free) answer();
      else held.push(answer);
    };
    expectStatus(await api.patch(`${ENDPOINTS}/${made.id}`, { replay_since: ago(DAY) }), 200);
    await eventually(() => expect(held).toHaveLength(10), WITHIN);
    const [waiting] = await world.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM webhook_deliveries WHERE organization_id = $1 AND state = 'pending'`,
      [organizationId],
    );
    expect(waiting?.count).toBeLessThanOrEqual(2 * ROWS_OF_A_PIECE);
    free = true;
    for (const answer of held) answer();
    const left = () =>
      world.database.query(
        `SELECT 1 FROM webhook_deliveries WHERE organization_id = $1 AND state <> 'delivered'`,
        [organizationId],
      );
    await eventually(async () => expect(await left()).toEqual([]), { within: 60_000 });
    expect(new Set(bench.at(made).map(({ headers }) => headers['webhook-id'])).size).toBe(many);
    expect(bench.at(made)).toHaveLength(many);
  });

  it.each([8 * DAY, -60_000])('400 for an instant %d ms ago', async (age) => {
    const { api } = world.organization();
    const made = await bench.endpoint(api);
    const answer = await api.patch<{ errors: unknown[] }>(`${ENDPOINTS}/${made.id}`, {
      replay_since: ago(age),
    });
    expectStatus(answer, 400);
    expect(answer.body.errors).toEqual([
      expect.objectContaining({ pointer: '/replay_since', code: 'out_of_range' }),
    ]);
  });
});
