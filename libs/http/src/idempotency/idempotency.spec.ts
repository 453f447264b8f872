import type { Request, Response } from 'express';
import { attachState } from '../context/request-state.js';
import { Cursors, IDEMPOTENCY_STORE, type RequestContext, type RunningApp } from '../index.js';
import { created, gate } from '../../test/things.controller.js';
import { call, startThings } from '../../test/things.fixture.js';
import type { MemoryStore } from '../../test/things.module.js';
import type { RouteDeclaration } from '../endpoints/route-declaration.js';
import { IdempotentOperations } from './idempotent-operations.js';

let app: RunningApp;
beforeAll(async () => {
  app = await startThings();
});
afterAll(() => app.close());
beforeEach(() => {
  created.length = 0;
  delete gate.opens;
});

const things = '/v1/crm/things';
let keys = 0;
const freshKey = () => `key-${++keys}`;
const post = (key: string, body: unknown, token = 'all') =>
  call(app.url, things, { method: 'POST', body, token, headers: { 'idempotency-key': key } });

describe('POST with an Idempotency-Key', () => {
  it('again: the same answer, said to be a replay, without a second effect or the secret', async () => {
    const key = freshKey();
    const first = await post(key, { name: 'a', size: 2 });
    expect([first.status, first.body.secret, first.headers.get('idempotent-replay')]).toEqual([
      201,
      'shown once',
      null,
    ]);
    const again = await post(`"${key}"`, '{ "size": 2.0, "name": "a" }');
    const { secret: _, ...shown } = first.body;
    expect([again.status, again.body, again.headers.get('idempotent-replay')]).toEqual([201, shown, 'true']);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(created).toEqual(['a']);
  });

  it('with another body: 422, and the first stands', async () => {
    const key = freshKey();
    await post(key, { name: 'a' });
    expect((await post(key, { name: 'b' })).body).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
    });
    expect((await post(key, { name: 'a' })).status).toBe(201);
    expect(created).toEqual(['a']);
  });

  it('of another organization is another key', async () => {
    const key = freshKey();
    await post(key, { name: 'a' });
    const other = await post(key, { name: 'b' }, 'other');
    expect([other.status, other.headers.get('idempotent-replay')]).toEqual([201, null]);
  });

  it('refused: stores nothing, so that the key can be used for the corrected body', async () => {
    const key = freshKey();
    expect((await post(key, { name: '' })).body.code).toBe('validation_failed');
    expect((await post(key, { name: 'refused' })).body.code).toBe('limit_reached');
    expect((await post(key, { name: 'a' })).status).toBe(201);
  });

  it('at once: one effect, all get the same answer', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.opens = promise;
    const key = freshKey();
    const calls = Array.from({ length: 10 }, () => post(key, { name: 'a' }));
    const opening = setTimeout(resolve, 100); // lets some of them wait
    const answers = await Promise.all(calls);
    clearTimeout(opening);
    expect(created).toEqual(['a']);
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(answers.filter(({ headers }) => headers.get('idempotent-replay') === null)).toHaveLength(1);
  });

  it('is checked before the body is looked at', async () => {
    expect((await post('k'.repeat(256), { name: 'a' })).body).toMatchObject({
      errors: [{ parameter: 'Idempotency-Key', code: 'too_long' }],
    });
  });

  it('is measured before it is taken apart: quoted, each of its characters may be written as two', async () => {
    expect((await post(`"${'\\\\'.repeat(255)}"`, { name: 'quoted' })).status).toBe(201);
    // Neither closed nor short enough.
    expect((await post(`"${'a'.repeat(8_000)}`, { name: 'a' })).body).toMatchObject({
      errors: [{ parameter: 'Idempotency-Key', code: 'too_long' }],
    });
  });

  it('is not kept by a route that restores, without a body: the route is part of the scope', async () => {
    const key = freshKey();
    const restore = (id: string) =>
      call(app.url, `${things}/${id}/restore`, { method: 'POST', headers: { 'idempotency-key': key } });
    const [one, two] = ['01890000-0000-7000-8000-000000000001', '01890000-0000-7000-8000-000000000002'];
    expect((await restore(one)).body).toEqual({ id: one });
    expect((await restore(two)).body).toEqual({ id: two });
    expect((await restore(one)).headers.get('idempotent-replay')).toBe('true');
  });
});

describe('IdempotentOperations', () => {
  const route = { method: 'POST', success: 201, secretFields: [] } as unknown as RouteDeclaration;

  function request(body: unknown): { request: Request; response: Response } {
    const request = { url: '/x', headers: { 'idempotency-key': 'held' } } as unknown as Request;
    const context = { organizationId: 'o' } as RequestContext;
    const cursors = new Cursors('c'.repeat(32));
    const isDraining = () => false;
    const state = { correlationId: 'c', listener: 'public', cursors, isDraining } as const;
    attachState(request, { ...state, context, body });
    return { request, response: {} as Response };
  }

  it('gives up after 5 s with 409 idempotency_in_progress', async () => {
    const store = app.app.get<MemoryStore>(IDEMPOTENCY_STORE);
    let now = 0;
    const operations = new IdempotentOperations(store, 's', () => (now += 2_600));
    const { promise, resolve } = Promise.withResolvers<object>();
    const holding = request({ a: 1 });
    const running = operations.once(holding.request, holding.response, route, () => promise);
    const waiting = request({ a: 1 });
    const late = operations.once(waiting.request, waiting.response, route, () =>
      Promise.reject(new Error('ran twice')),
    );
    await expect(late).rejects.toMatchObject({
      code: 'idempotency_in_progress',
      headers: { 'Retry-After': '1' },
    });
    resolve({});
    await running;
  });

  it('without a store or a key just runs', async () => {
    const operations = new IdempotentOperations(undefined, 's');
    const { request: asked, response } = request({});
    expect(await operations.once(asked, response, route, () => Promise.resolve('ran'))).toBe('ran');
  });
});
